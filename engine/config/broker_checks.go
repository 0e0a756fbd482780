package config

import (
	"slices"
)

// retention allows -1 (no limit) and positive numbers. Kafka takes any other
// negative number for -1 as well.
func retention(v value) string {
	if v.num == 0 {
		return "Value must be unlimited (-1) or, greater than or equal to 1"
	}
	return ""
}

func pemOnly(v value) string {
	if v.raw != "PEM" {
		return "spate reads keys and certificates in PEM only, want PEM"
	}
	return ""
}

func roles(v value) string {
	if reason := eachOf("broker", "controller")(v); reason != "" {
		return reason
	}
	if !slices.Contains(v.list, "broker") {
		return "spate serves clients, want broker or broker,controller"
	}
	return ""
}

// unset refuses every value but the empty one, where ignoring the setting
// would be dangerous.
func unset(reason string) check {
	return func(v value) string {
		if v.raw != "" {
			return reason
		}
		return ""
	}
}

func tlsVersions(v value) string {
	for _, p := range v.list {
		if p != "TLSv1.2" && p != "TLSv1.3" {
			return "want TLSv1.2, TLSv1.3 or both"
		}
	}
	return ""
}
