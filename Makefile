# Everything that the targets need beyond Go is set up by them.

GO ?= go
# One static binary; also keeps tests from needing a C compiler.
export CGO_ENABLED = 0

STATICCHECK = honnef.co/go/tools/cmd/staticcheck@v0.8.2
# Passed to go test, such as TESTFLAGS='-v -run TestTopic'.
TESTFLAGS ?=
# Passed to "spate serve" by make run, such as ARGS='--data /var/lib/spate'.
ARGS ?=

.PHONY: build run test interop bench oracle lint clean help

help: ## list the targets
	@sed -n 's/^\([a-z]*\):.*## /\1\t/p' $(MAKEFILE_LIST)

build: ## build bin/spate
	$(GO) build -trimpath -buildvcs=auto -o bin/spate ./cmd/spate

run: build ## build and serve with the defaults
	bin/spate serve $(ARGS)

test: ## run all tests that need nothing but Go
	$(GO) test -timeout 10m $(TESTFLAGS) ./...

interop: build ## run other people's clients against bin/spate
	bench/interop/setup.sh java mvn kcat
	$(GO) test -tags interop -count 1 -timeout 30m -v $(TESTFLAGS) ./bench/interop

bench: build ## measure against a peer in the same run (not built yet)
	bench/interop/setup.sh java mvn fio
	@echo "make bench: the load generator is not built yet; see docs/status.md"; exit 1

oracle: build ## compare every answer with a real Kafka's
	bench/interop/setup.sh java mvn
	$(GO) test -tags oracle -count 1 -timeout 30m $(TESTFLAGS) ./bench/oracle

lint: ## gofmt, vet, staticcheck and the import arrows
	@unformatted=$$(gofmt -l $$(git ls-files '*.go')); \
	if [ -n "$$unformatted" ]; then echo "not formatted (gofmt -w):"; echo "$$unformatted"; exit 1; fi
	$(GO) vet ./...
	$(GO) vet -tags interop ./bench/interop
	$(GO) run $(STATICCHECK) ./...
	$(GO) run $(STATICCHECK) -tags interop ./bench/interop
	$(GO) test -count 1 -run 'TestImportArrows|TestArrowRules' ./cmd/spate

clean: ## remove what was built and downloaded
	rm -rf bin .cache
