package main

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/spatemq/spate/engine"
	"github.com/spatemq/spate/engine/commitlog"
	"github.com/spatemq/spate/engine/disk"
)

func newVerifyCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "verify DIR",
		Short: "Check the data directory of a stopped broker",
		Long: `verify reads every block, record batch and index file of a data directory and
says what is wrong with it. It changes nothing. The exit status is 0 if all is
well and 1 if not. A torn end, as a crash leaves it, is well: nothing in it was
acknowledged, and the next start cuts it.`,
		Args: exactly(1, "one data directory"),
		RunE: func(_ *cobra.Command, args []string) error { return verify(a, args[0]) },
	}
}

func verify(a *app, path string) error {
	dir, err := disk.OpenPsync(path)
	if err != nil {
		return err
	}
	defer dir.Close()
	total, _ := commitlog.TotalBytes(dir)
	var done int64
	show := isTerminal(a.errOut) && !a.json
	rep, err := engine.Verify(dir, func(n int64) {
		if done += n; show && total > 0 {
			fmt.Fprintf(a.errOut, "\rverifying: %d of %d MiB (%d%%)", done>>20, total>>20, done*100/total)
		}
	})
	if show {
		fmt.Fprintln(a.errOut)
	}
	if err != nil {
		return err
	}
	if a.json {
		if err := json.NewEncoder(a.out).Encode(rep); err != nil {
			return err
		}
	} else {
		printVerify(a, &rep)
	}
	if rep.Count > 0 {
		return fmt.Errorf("%s: %d problems", path, rep.Count)
	}
	return nil
}

func printVerify(a *app, r *engine.VerifyReport) {
	for _, p := range r.Problems {
		fmt.Fprintln(a.out, p)
	}
	if n := r.Count - len(r.Problems); n > 0 {
		fmt.Fprintf(a.out, "... and %d more\n", n)
	}
	if r.TornAt != 0 {
		fmt.Fprintf(a.out, "torn end at segment %d byte %d: never acknowledged, cut at the next start\n",
			commitlog.Segment(r.TornAt), commitlog.Offset(r.TornAt))
	}
	fmt.Fprintf(a.out, "%d segments, %d blocks, %d entries, %d records, %d index files, %d MiB checked: %d problems\n",
		r.Segments, r.Blocks, r.Entries, r.Records, r.Indexes, r.Bytes>>20, r.Count)
}
