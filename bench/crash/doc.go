// Package crash kills a real broker under load, again and again, and checks
// what its clients were promised: no acknowledged record is lost, changed,
// moved or stored twice, and committed offsets never go back.
package crash
