package main

import (
	"log/slog"

	"golang.org/x/sys/unix"
)

// raiseFileLimit lifts the soft limit of open files to the hard one: every
// connection takes one.
func raiseFileLimit(log *slog.Logger) {
	var l unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &l); err != nil || l.Cur == l.Max {
		return
	}
	was := l.Cur
	l.Cur = l.Max
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &l); err != nil {
		log.Warn("limit of open files cannot be raised", "limit", was, "error", err)
	}
}
