package main

import (
	"io"

	"github.com/spf13/cobra"
)

// app is what all commands share: the streams and the global flags.
type app struct {
	in     io.Reader
	out    io.Writer
	errOut io.Writer

	json bool
	conn connection
}

func newRootCommand(a *app) *cobra.Command {
	root := &cobra.Command{
		Use:   "spate",
		Short: "A message broker for Kafka clients, and its tools",
		Long: `spate is a message broker in one binary, and the tools for it.

The client commands work against any Kafka broker; name it with --bootstrap or
the environment variable SPATE_BOOTSTRAP.`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          subcommandArgs,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usageError("%v", err) })
	root.AddCommand(
		newServeCommand(a),
		newTopicCommand(a),
		newGroupCommand(a),
		newProduceCommand(a),
		newConsumeCommand(a),
		newVerifyCommand(a),
		newVersionCommand(a),
	)
	return root
}

// newParent makes a command that only groups others.
func newParent(use, short string, children ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{
		Use:   use,
		Short: short,
		Args:  subcommandArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(children...)
	return cmd
}

// subcommandArgs refuses what is left over where a subcommand was expected.
func subcommandArgs(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	cmd.SuggestionsMinimumDistance = 2
	msg := "unknown command " + quote(args[0])
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		msg += "; did you mean " + quote(near[0]) + "?"
	}
	return usageError("%s", msg)
}

// exactly requires n arguments, called what in messages.
func exactly(n int, what string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) != n {
			return usageError("expected %s, got %d arguments", what, len(args))
		}
		return nil
	}
}

// atLeastOne requires one or more arguments, called what in messages.
func atLeastOne(what string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) == 0 {
			return usageError("expected one or more %s", what)
		}
		return nil
	}
}

// none refuses arguments.
func none(_ *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usageError("unexpected argument %s", quote(args[0]))
	}
	return nil
}
