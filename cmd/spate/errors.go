package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/twmb/franz-go/pkg/kerr"
)

// Exit statuses; see the package comment.
const (
	exitOK          = 0
	exitFailed      = 1
	exitUsage       = 2
	exitUnreachable = 3
	exitInterrupted = 130
)

// commandError is an error with the exit status it leads to and, where there is
// one, what the user can do about it.
type commandError struct {
	status int
	err    error
	hint   string
}

func (e *commandError) Error() string { return e.err.Error() }
func (e *commandError) Unwrap() error { return e.err }

// usageError says what is wrong with the command line.
func usageError(format string, args ...any) error {
	return &commandError{status: exitUsage, err: fmt.Errorf(format, args...)}
}

// failure is an error with advice.
func failure(hint, format string, args ...any) error {
	return &commandError{status: exitFailed, err: fmt.Errorf(format, args...), hint: hint}
}

// errReported ends a command with exit status 1 after it has printed its own
// errors, one for each thing that failed.
var errReported = &commandError{status: exitFailed}

// report prints err and returns the exit status.
func (a *app) report(ctx context.Context, cmd *cobra.Command, err error) int {
	if err == nil {
		return exitOK
	}
	if isBrokenPipe(err) {
		return exitOK // the reader has seen enough
	}
	if err == error(errReported) {
		return exitFailed
	}
	var ce *commandError
	if ctx.Err() != nil && !errors.As(err, &ce) {
		return exitInterrupted
	}
	a.printError(cmd, err)
	if errors.As(err, &ce) {
		return ce.status
	}
	return exitFailed
}

// printError prints one error with its command and its hint.
func (a *app) printError(cmd *cobra.Command, err error) {
	fmt.Fprintf(a.errOut, "%s: %v\n", cmd.CommandPath(), err)
	hint := hintFor(err)
	var ce *commandError
	if errors.As(err, &ce) {
		if ce.hint != "" {
			hint = ce.hint
		}
		if ce.status == exitUsage && hint == "" {
			hint = "see '" + cmd.CommandPath() + " --help'"
		}
	}
	if hint != "" {
		fmt.Fprintf(a.errOut, "%s: %s\n", cmd.CommandPath(), hint)
	}
}

// brokerError words an error code of the broker's, with the broker's own
// message where it sent one: "create topic x: INVALID_PARTITIONS: ...".
func brokerError(what string, err error, message string) error {
	if message == "" {
		return fmt.Errorf("%s: %w", what, err)
	}
	var ke *kerr.Error
	if errors.As(err, &ke) {
		return &refusal{what: what, code: ke, message: message}
	}
	return fmt.Errorf("%s: %w: %s", what, err, message)
}

// refusal is a broker's error with the broker's own explanation.
type refusal struct {
	what    string
	code    *kerr.Error
	message string
}

func (r *refusal) Error() string { return r.what + ": " + r.code.Message + ": " + r.message }
func (r *refusal) Unwrap() error { return r.code }

// hintFor is what to do about the errors that people meet most.
func hintFor(err error) string {
	switch {
	case errors.Is(err, kerr.TopicAlreadyExists):
		return "use --if-not-exists to accept that, or 'spate topic alter' to change the topic"
	case errors.Is(err, kerr.UnknownTopicOrPartition):
		return "'spate topic list' shows the topics; 'spate topic create' makes one"
	case errors.Is(err, kerr.GroupIDNotFound):
		return "'spate group list' shows the groups"
	case errors.Is(err, kerr.NonEmptyGroup):
		return "stop the group's members first; 'spate group describe' shows them"
	case errors.Is(err, kerr.InvalidReplicationFactor):
		return "--replication must not be larger than the number of brokers"
	case errors.Is(err, kerr.TopicAuthorizationFailed), errors.Is(err, kerr.GroupAuthorizationFailed),
		errors.Is(err, kerr.ClusterAuthorizationFailed):
		return "the user needs an ACL for this operation"
	case errors.Is(err, kerr.MessageTooLarge):
		return "raise max.message.bytes of the topic, or send smaller records"
	case errors.Is(err, kerr.UnsupportedVersion):
		return "this broker does not serve the request in any version this client knows"
	}
	return ""
}

// unreachable words a failed attempt to reach the broker at addrs.
func unreachable(addrs string, err error) error {
	what := rootCause(err)
	return &commandError{
		status: exitUnreachable,
		err:    fmt.Errorf("cannot reach a Kafka broker at %s: %s", addrs, what),
		hint:   "start one with 'spate serve', or name another with --bootstrap HOST:PORT or SPATE_BOOTSTRAP",
	}
}

// rootCause picks the part of a connection error that a person can act on.
func rootCause(err error) string {
	var dns *net.DNSError
	var op *net.OpError
	switch {
	case errors.As(err, &dns):
		return dns.Error()
	case errors.Is(err, syscall.ECONNREFUSED):
		return "connection refused"
	case errors.As(err, &op):
		return op.Error()
	case errors.Is(err, context.DeadlineExceeded):
		return "no answer in time (see --timeout)"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "it closed the connection; is this a Kafka listener, and does it want TLS or SASL?"
	}
	return err.Error()
}

func isBrokenPipe(err error) bool { return errors.Is(err, syscall.EPIPE) }

func quote(s string) string { return strconv.Quote(s) }
