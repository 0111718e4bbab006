// Command bench says what a call costs through the hub, and through a bridge to it, in ratios to the
// least that can relay it between the same two sockets (floor.go):
//
//	go run ./cmd/tabhub/e2e/bench -against OLDER
//
// measures the program of this tree and an older one. All are run in turn, so that what else the
// machine does meets them all, and each figure is the median of the rounds.
package main

import (
	"flag"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// table is what is measured, and what is shown of it.
var table = []struct {
	name string
	load load
	show []figure
}{
	{"10 tabs, 64 in flight", load{10, 64, 20000, 64}, []figure{rate, perCall}},
	{"100 tabs, 64 in flight", load{100, 64, 20000, 64}, []figure{rate, perCall}},
	{"1,000 tabs, 64 in flight", load{1000, 64, 20000, 64}, []figure{rate, perCall}},
	{"100 tabs, one at a time", load{100, 1, 3000, 64}, []figure{p50, perCall, start}},
	{"1,000 tabs, one at a time", load{1000, 1, 3000, 64}, []figure{p50, perCall, memory}},
	{"64 KiB, 500 calls", load{10, 1, 500, 64 << 10}, []figure{p50, perCall, memory}},
}

// subject is what is measured: a program, or the floor if it is "".
type subject struct {
	name, program string
	bridge        bool
}

func main() {
	against := flag.String("against", "", "another `program`, such as an older tabhub")
	program := flag.String("program", "", "the tabhub to measure (default: this tree's)")
	rounds := flag.Int("rounds", 3, "how often each is measured")
	only := flag.String("only", "", "measure only loads whose name has this in it")
	at := flag.String("floor", "", "be the floor at this `address`")
	flag.Parse()
	if *at != "" {
		runFloor(*at)
		return
	}
	dir, err := os.MkdirTemp("", "bench-")
	check(err)
	defer os.RemoveAll(dir)
	if *program == "" {
		*program = filepath.Join(dir, "tabhub")
		out, err := exec.Command("go", "build", "-trimpath", "-o", *program, "tabhub/cmd/tabhub").CombinedOutput()
		if err != nil {
			panic(string(out))
		}
	}
	subjects := []subject{{name: "floor"}, {"hub", *program, false}, {"bridge", *program, true}}
	if *against != "" {
		subjects = append(subjects, subject{"older hub", *against, false}, subject{"older bridge", *against, true})
	}
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	defer w.Flush()
	fmt.Fprint(w, "\t")
	for _, s := range subjects {
		fmt.Fprintf(w, "\t%s", s.name)
	}
	fmt.Fprintln(w)
	for _, t := range table {
		if !strings.Contains(t.name, *only) {
			continue
		}
		got := make([][figuresLen][]float64, len(subjects))
		for range *rounds {
			for i, s := range subjects {
				for f, value := range s.measure(t.load, filepath.Join(dir, "data")) {
					got[i][f] = append(got[i][f], value)
				}
			}
		}
		for _, f := range t.show {
			fmt.Fprintf(w, "%s\t%s", t.name, figureNames[f])
			var least float64
			for i := range subjects {
				slices.Sort(got[i][f])
				median := got[i][f][*rounds/2]
				if i == 0 {
					least = median
				}
				fmt.Fprintf(w, "\t%.4g = %.2f×", median, median/least)
			}
			fmt.Fprintln(w)
		}
	}
}

// measure runs the subject in the data directory, which it makes and removes.
func (s subject) measure(l load, data string) figures {
	defer os.RemoveAll(data)
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	check(err)
	addr := ln.Addr().String() // free in a moment
	check(ln.Close())
	if s.program == "" {
		self, err := os.Executable()
		check(err)
		return l.measure(exec.Command(self, "-floor", addr), nil, addr)
	}
	flags := []string{"--data-dir", data, "--listen", addr, "--allow-origin", "*", "--expose", "all", "--name-limit", "64"}
	help, err := exec.Command(s.program, "serve", "--help").Output()
	check(err)
	if strings.Contains(string(help), "--policy") { // the first versions have none
		flags = append(flags, "--policy", "open")
	}
	if !s.bridge {
		return l.measure(exec.Command(s.program, append([]string{"stdio", "--standalone"}, flags...)...), nil, addr)
	}
	hub := exec.Command(s.program, append([]string{"serve"}, flags...)...)
	check(hub.Start())
	defer hub.Wait()
	defer hub.Process.Signal(os.Interrupt)
	for {
		if conn, err := net.Dial("tcp", addr); err == nil {
			conn.Close()
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	return l.measure(exec.Command(s.program, "stdio", "--data-dir", data), hub.Process, addr)
}
