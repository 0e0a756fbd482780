package main

import (
	"fmt"
	"regexp"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// versionInfo is what the build recorded about itself.
type versionInfo struct {
	Version  string `json:"version"`            // module version, or "devel"
	Revision string `json:"revision,omitempty"` // commit
	Time     string `json:"time,omitempty"`     // of the commit, RFC 3339
	Modified bool   `json:"modified,omitempty"` // built from a changed checkout
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

func currentVersion() versionInfo {
	v := versionInfo{Version: "devel", Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	if info.Main.Version != "" && info.Main.Version != "(devel)" {
		v.Version = info.Main.Version
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			v.Revision = s.Value
		case "vcs.time":
			v.Time = s.Value
		case "vcs.modified":
			v.Modified = s.Value == "true"
		}
	}
	return v
}

var notInSoftwareVersion = regexp.MustCompile(`[^A-Za-z0-9.-]+`)

// cleanVersion fits a version into the characters that KIP-511 allows for a
// client's software version.
func cleanVersion(v string) string { return notInSoftwareVersion.ReplaceAllString(v, "-") }

func newVersionCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version of this binary",
		Args:  none,
		RunE: func(*cobra.Command, []string) error {
			v := currentVersion()
			if a.json {
				return a.printJSON(v)
			}
			line := "spate " + v.Version
			if v.Revision != "" {
				line += " " + v.Revision
			}
			if v.Modified {
				line += " (modified)"
			}
			_, err := fmt.Fprintf(a.out, "%s %s %s\n", line, v.Go, v.Platform)
			return err
		},
	}
	a.addJSONFlag(cmd.Flags())
	return cmd
}
