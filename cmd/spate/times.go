package main

import (
	"errors"
	"strconv"
	"time"
)

// parseTime reads a point in time: RFC 3339, a local date with or without a
// time of day, or milliseconds since 1970.
func parseTime(s string) (time.Time, error) {
	if ms, err := strconv.ParseInt(s, 10, 64); err == nil {
		return time.UnixMilli(ms), nil
	}
	if t, err := time.Parse(time.RFC3339Nano, s); err == nil {
		return t, nil
	}
	for _, layout := range []string{"2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02"} {
		if t, err := time.ParseInLocation(layout, s, time.Local); err == nil {
			return t, nil
		}
	}
	return time.Time{}, errors.New("expected a time such as 2026-11-30T18:00:00Z, 2026-11-30, or milliseconds since 1970")
}
