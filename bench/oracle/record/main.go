// Command record runs the oracle's scenarios against a real Kafka and keeps its answers.
//
//	go run ./bench/oracle/record [-addr HOST:PORT] [-run REGEXP] [-diff]
//
// Without -addr it starts the pinned Kafka itself. With -diff it changes nothing and prints what
// differs from the kept answers, whatever broker is at the address.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"

	"github.com/spatemq/spate/bench/oracle"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "record:", err)
		os.Exit(1)
	}
}

func run() error {
	addr := flag.String("addr", "", "a broker that runs; empty: start Kafka")
	dir := flag.String("dir", "bench/oracle/testdata", "where scenarios and recordings are")
	match := flag.String("run", "", "only scenarios whose name matches")
	diff := flag.Bool("diff", false, "compare with the recordings instead of writing them")
	flag.Parse()
	re, err := regexp.Compile(*match)
	if err != nil {
		return err
	}
	suite, err := oracle.LoadSuite(*dir)
	if err != nil {
		return err
	}
	r := &oracle.Runner{Addr: *addr, Scenarios: suite.Names()}
	if err := r.Ready(); err != nil {
		return err
	}
	var allowed []*oracle.Allowed
	if *diff {
		if allowed, err = oracle.LoadAllowed(filepath.Join(*dir, "allow.txt")); err != nil {
			return err
		}
	}
	failed := 0
	for _, sc := range suite.Scenarios {
		if !re.MatchString(sc.Name) {
			continue
		}
		got, err := r.Run(sc)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			failed++
		}
		if !*diff {
			if err := suite.Record(sc, got); err != nil {
				return err
			}
			fmt.Printf("%s: %d answers\n", sc.Name, len(got))
			continue
		}
		want, err := suite.Recorded(sc)
		if err != nil {
			return err
		}
		diffs := oracle.Unexplained(oracle.Compare(sc.Name, want, got), allowed)
		for _, d := range diffs {
			fmt.Println(d)
		}
		failed += len(diffs)
	}
	if failed > 0 {
		return fmt.Errorf("%d failures or differences", failed)
	}
	return nil
}
