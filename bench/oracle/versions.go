package oracle

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// Range is the versions of one API, both ends included.
type Range struct{ Min, Max int16 }

// Served is what spate advertises, by the API's name in package kmsg. Every API and
// every version here has to occur in a scenario.
var Served = map[string]Range{
	"ApiVersions":             {0, 4},
	"Metadata":                {0, 13},
	"Produce":                 {0, 13},
	"Fetch":                   {4, 18},
	"ListOffsets":             {1, 11},
	"FindCoordinator":         {0, 6},
	"JoinGroup":               {0, 9},
	"SyncGroup":               {0, 5},
	"Heartbeat":               {0, 4},
	"LeaveGroup":              {0, 5},
	"OffsetCommit":            {2, 10},
	"OffsetFetch":             {1, 10},
	"OffsetDelete":            {0, 0},
	"DescribeGroups":          {0, 6},
	"ListGroups":              {0, 5},
	"DeleteGroups":            {0, 2},
	"CreateTopics":            {2, 7},
	"DeleteTopics":            {1, 6},
	"CreatePartitions":        {0, 3},
	"DeleteRecords":           {0, 2},
	"DescribeConfigs":         {1, 4},
	"IncrementalAlterConfigs": {0, 1},
	"AlterConfigs":            {0, 2},
	"DescribeCluster":         {0, 2},
	"DescribeTopicPartitions": {0, 0},
	"DescribeLogDirs":         {1, 4},
	"InitProducerID":          {0, 5},
	"OffsetForLeaderEpoch":    {2, 4},
}

// requestByName gives an empty request of an API known to kmsg.
func requestByName(name string) (kmsg.Request, error) {
	for k := int16(0); k <= kmsg.MaxKey; k++ {
		if kmsg.NameForKey(k) == name {
			return kmsg.RequestForKey(k), nil
		}
	}
	return nil, fmt.Errorf("no API is called %s", name)
}

// parseVersions reads vN, v~N, vN..M or all.
func parseVersions(api, s string) ([]int16, error) {
	r, served := Served[api]
	if s == "all" || s == "" {
		if !served {
			return nil, fmt.Errorf("%s: name its versions, spate does not serve it", api)
		}
		return r.list(), nil
	}
	s = strings.TrimPrefix(s, "v")
	clamp := strings.HasPrefix(s, "~")
	from, to, isRange := strings.Cut(strings.TrimPrefix(s, "~"), "..")
	if !isRange {
		to = from
	}
	lo, err1 := strconv.ParseInt(from, 10, 16)
	hi, err2 := strconv.ParseInt(to, 10, 16)
	if err1 != nil || err2 != nil {
		return nil, fmt.Errorf("version %q: vN, v~N, vN..M or all expected", s)
	}
	out := Range{int16(lo), int16(hi)}
	if clamp {
		out.Min = max(r.Min, min(out.Min, r.Max))
		out.Max = out.Min
	}
	return out.list(), nil
}

func (r Range) list() []int16 {
	var out []int16
	for v := r.Min; v <= r.Max; v++ {
		out = append(out, v)
	}
	return out
}
