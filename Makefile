GO ?= go
export CGO_ENABLED = 0
build:
	$(GO) build -trimpath -o bin/spate ./cmd/spate
