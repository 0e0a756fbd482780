package peers

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// Usage is what a process has used and holds.
type Usage struct {
	CPU      time.Duration // user and system, all threads, since its start
	RSSBytes int64
	Files    int // open file descriptors
}

// clockTicksPerSecond is the unit of /proc/PID/stat; Linux has no other value on the platforms of Go.
const clockTicksPerSecond = 100

// Usage reads the broker's use of the machine from /proc.
func (p *Peer) Usage() (Usage, error) {
	var u Usage
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.PID()))
	if err != nil {
		return u, err
	}
	if u.CPU, err = cpuOf(stat); err != nil {
		return u, err
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.PID()))
	if err != nil {
		return u, err
	}
	if u.RSSBytes, err = rssOf(string(status)); err != nil {
		return u, err
	}
	fds, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", p.PID()))
	u.Files = len(fds)
	return u, err
}

// cpuOf adds utime and stime; the command's name before them may hold spaces and brackets.
func cpuOf(stat []byte) (time.Duration, error) {
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	const utime, stime = 11, 12 // counted from the state, the third field of the file
	if len(fields) <= stime {
		return 0, fmt.Errorf("/proc/PID/stat has %d fields after the name", len(fields))
	}
	var ticks int64
	for _, f := range fields[utime : stime+1] {
		n, err := strconv.ParseInt(string(f), 10, 64)
		if err != nil {
			return 0, err
		}
		ticks += n
	}
	return time.Duration(ticks) * time.Second / clockTicksPerSecond, nil
}

func rssOf(status string) (int64, error) {
	for line := range strings.Lines(status) {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			kib, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
			return kib << 10, err
		}
	}
	return 0, fmt.Errorf("/proc/PID/status has no VmRSS")
}
