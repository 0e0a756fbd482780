package oracle

import (
	"os"
	"path/filepath"
	"strings"
)

// Suite is the scenarios of one directory.
type Suite struct {
	Dir       string
	Scenarios []*Scenario
}

// LoadSuite reads all scenario files (*.txt but for allow.txt) of a directory, in the order of their names.
func LoadSuite(dir string) (*Suite, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.txt"))
	if err != nil {
		return nil, err
	}
	s := &Suite{Dir: dir}
	for _, p := range paths {
		if filepath.Base(p) == "allow.txt" {
			continue
		}
		sc, err := Load(p)
		if err != nil {
			return nil, err
		}
		s.Scenarios = append(s.Scenarios, sc)
	}
	return s, nil
}

// Names are the names of all scenarios.
func (s *Suite) Names() []string {
	var out []string
	for _, sc := range s.Scenarios {
		out = append(out, sc.Name)
	}
	return out
}

// Recorded reads the transcript kept for a scenario.
func (s *Suite) Recorded(sc *Scenario) (Transcript, error) {
	src, err := os.ReadFile(s.recording(sc))
	if err != nil {
		return nil, err
	}
	return ParseTranscript(string(src))
}

// Record keeps a transcript for a scenario.
func (s *Suite) Record(sc *Scenario, t Transcript) error {
	return os.WriteFile(s.recording(sc), []byte(strings.TrimRight(t.String(), "\n")+"\n"), 0o644)
}

func (s *Suite) recording(sc *Scenario) string {
	return filepath.Join(s.Dir, sc.Name+".kafka")
}

// Settings are what both brokers are started with beside their defaults.
var Settings = []string{"group.initial.rebalance.delay.ms=0"}
