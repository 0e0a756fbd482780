// Command record runs the oracle's scenarios against a broker. By default it starts the pinned Kafka
// and keeps its answers:
//
//	go run ./bench/oracle/record [-run REGEXP]
//
// With -diff it changes nothing and prints what differs from the kept answers; the broker is spate,
// built and started for it, or whatever is at -addr. Kafka itself compared so shows which answers
// depend on more than the scenario.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"

	"github.com/spatemq/spate/bench/oracle"
	"github.com/spatemq/spate/bench/peers"
)

// options are the command line's.
type options struct {
	addr, dir string
	match     *regexp.Regexp
	diff      bool
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "record:", err)
		os.Exit(1)
	}
}

func run() error {
	o, err := parse()
	if err != nil {
		return err
	}
	if o.addr == "" {
		p, err := start(o.diff)
		if err != nil {
			return err
		}
		defer p.Stop()
		o.addr = p.Addr
	}
	suite, err := oracle.LoadSuite(o.dir)
	if err != nil {
		return err
	}
	r := &oracle.Runner{Addr: o.addr, Scenarios: suite.Names()}
	if err := r.Ready(); err != nil {
		return err
	}
	if o.diff {
		return compare(r, suite, o)
	}
	return record(r, suite, o)
}

func parse() (options, error) {
	var o options
	flag.StringVar(&o.addr, "addr", "", "a broker that runs; empty: start one")
	flag.StringVar(&o.dir, "dir", "bench/oracle/testdata", "where scenarios and recordings are")
	flag.BoolVar(&o.diff, "diff", false, "compare with the recordings instead of writing them")
	match := flag.String("run", "", "only scenarios whose name matches")
	flag.Parse()
	var err error
	o.match, err = regexp.Compile(*match)
	return o, err
}

// start starts the broker under test, or the one to record.
func start(diff bool) (*peers.Peer, error) {
	dir, err := os.MkdirTemp("", "spate-oracle-")
	if err != nil {
		return nil, err
	}
	if diff {
		return peers.StartSpate(peers.SpateOptions{Dir: dir, Set: oracle.Settings})
	}
	return peers.StartKafka(peers.KafkaOptions{Dir: dir, HeapMiB: 512, Properties: oracle.Settings})
}

func record(r *oracle.Runner, suite *oracle.Suite, o options) error {
	for _, sc := range suite.Scenarios {
		if !o.match.MatchString(sc.Name) {
			continue
		}
		got, err := r.Run(sc)
		if err != nil {
			return err
		}
		if err := suite.Record(sc, got); err != nil {
			return err
		}
		fmt.Printf("%s: %d answers\n", sc.Name, len(got))
	}
	return nil
}

func compare(r *oracle.Runner, suite *oracle.Suite, o options) error {
	allowed, err := oracle.LoadAllowed(filepath.Join(o.dir, "allow.txt"))
	if err != nil {
		return err
	}
	var all []oracle.Diff
	broken := 0
	for _, sc := range suite.Scenarios {
		if !o.match.MatchString(sc.Name) {
			continue
		}
		want, err := suite.Recorded(sc)
		if err != nil {
			return err
		}
		got, err := r.Run(sc)
		if err != nil {
			fmt.Println(err)
			broken++
		}
		all = append(all, oracle.Unexplained(oracle.Compare(sc.Name, want, got), allowed)...)
	}
	fmt.Print(oracle.Summary(all))
	if len(all)+broken > 0 {
		return fmt.Errorf("%d scenarios that did not end, %d differences without a reason", broken, len(all))
	}
	return nil
}
