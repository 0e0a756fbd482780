package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/spatemq/spate/engine"
	"github.com/spatemq/spate/engine/config"
	"github.com/spatemq/spate/engine/disk"
	"github.com/spatemq/spate/hwprofile"
	"github.com/spatemq/spate/netpoll"
	"github.com/spatemq/spate/protocols"
	"github.com/spatemq/spate/protocols/kafka"
)

// serveFlags are what the command line of serve says.
type serveFlags struct {
	data     string
	file     string
	kafka    string
	set      []string
	logLevel string
}

func newServeCommand(a *app) *cobra.Command {
	var f serveFlags
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Run the broker",
		Long: `serve runs the broker until it gets SIGTERM or SIGINT.

Settings have Kafka's names. They come, weakest first, from the file named with
--config (a .properties file; a stock Kafka server.properties is understood),
from environment variables (SPATE_LOG_RETENTION_MS is log.retention.ms) and from
--set. What only spate has begins with "spate.".

When it is ready it prints one line for each listener and then "ready".`,
		Args: exactly(0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return serve(cmd.Context(), a, f, cmd.Flags().Changed("kafka"))
		},
	}
	cmd.Flags().StringVar(&f.data, "data", "", "data directory (default ./spate-data, or log.dirs of --config)")
	cmd.Flags().StringVar(&f.file, "config", "", "settings `file` in .properties format")
	cmd.Flags().StringVar(&f.kafka, "kafka", "", "`HOST:PORT` of the Kafka listener, empty for none (default 127.0.0.1:9092)")
	cmd.Flags().StringArrayVar(&f.set, "set", nil, "set `NAME=VALUE`; may be repeated")
	cmd.Flags().StringVar(&f.logLevel, "log-level", "info", "debug, info, warn or error")
	return cmd
}

// serve starts everything, waits for the end and takes it down in order:
// clients first, then the engine.
func serve(ctx context.Context, a *app, f serveFlags, kafkaSet bool) error {
	log, err := newLogger(a, f.logLevel)
	if err != nil {
		return err
	}
	cfg, err := loadConfig(f, kafkaSet)
	if err != nil {
		return err
	}
	if w := cfg.Warning(); w != "" {
		log.Warn(w)
	}
	raiseFileLimit(log)
	e, err := openEngine(cfg, log)
	if err != nil {
		return err
	}
	defer e.Close()
	srv, err := listen(cfg, e, log)
	if err != nil {
		return err
	}
	for _, l := range cfg.Listeners {
		fmt.Fprintf(a.out, "kafka %s listening on %s\n", l.Name, srv.Addr(l.Name))
	}
	fmt.Fprintln(a.out, "ready")
	<-ctx.Done()
	log.Info("stopping")
	stop, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := srv.Stop(stop); err != nil {
		log.Warn("connections were closed before their answers had been taken", "error", err)
	}
	return e.Close()
}

func newLogger(a *app, level string) (*slog.Logger, error) {
	var l slog.Level
	if err := l.UnmarshalText([]byte(level)); err != nil {
		return nil, usageError("--log-level %s: want debug, info, warn or error", quote(level))
	}
	return slog.New(slog.NewTextHandler(a.errOut, &slog.HandlerOptions{Level: l})), nil
}

func loadConfig(f serveFlags, kafkaSet bool) (*config.Broker, error) {
	host, _ := os.Hostname()
	in := config.Input{Environ: os.Environ(), Set: f.set, Hostname: host}
	if f.file != "" {
		b, err := os.ReadFile(f.file)
		if err != nil {
			return nil, fmt.Errorf("--config: %w", err)
		}
		in.File, in.FileName = b, f.file
	}
	if f.data != "" {
		in.Set = append(in.Set, "log.dirs="+f.data)
	}
	if kafkaSet {
		in.Set = append(in.Set, "listeners=PLAINTEXT://"+f.kafka)
	}
	return config.NewBroker(in)
}

// openEngine opens the data directory with the backend that is asked for or
// that works.
func openEngine(cfg *config.Broker, log *slog.Logger) (*engine.Engine, error) {
	if len(cfg.DataDirs) > 1 {
		return nil, fmt.Errorf("log.dirs=%s: one data directory is served so far", strings.Join(cfg.DataDirs, ","))
	}
	path := cfg.DataDirs[0]
	dir, reason, err := disk.Open(path, disk.Options{Backend: cfg.String("spate.io.backend")})
	if err != nil {
		return nil, err
	}
	found, err := hwprofile.Detect(path)
	if err != nil {
		log.Warn("the disk cannot be described; the generic profile is used", "dir", path, "error", err)
		found = hwprofile.Detection{Profile: hwprofile.Generic}
	}
	profile, _ := hwprofile.ByName(found.Profile)
	log.Info("hardware profile", "profile", found.Profile, "reason", found.Reason, "backend", reason)
	e, err := engine.Open(engine.Options{Dir: dir, Config: cfg, Tuning: tuning(cfg, &profile), Logger: log})
	if err != nil {
		dir.Close()
		return nil, err
	}
	r := e.Recovery()
	log.Info("data directory is open", "dir", path, "backend", dir.Backend(), "direct_io", dir.Direct(),
		"segments", r.Log.Segments, "scanned", r.Log.Scanned, "blocks", r.Log.Blocks, "took", r.Duration.Round(time.Millisecond))
	return e, nil
}

// tuning takes the knobs from the settings, and from the profile where they are
// not set.
func tuning(cfg *config.Broker, p *hwprofile.Profile) engine.Tuning {
	knob := func(setting string, k hwprofile.Knob) int64 {
		if _, set := cfg.Static()[setting]; set && cfg.Int(setting) > 0 {
			return cfg.Int(setting)
		}
		return k.Value
	}
	memory := cfg.Int("spate.memory.bytes")
	return engine.Tuning{
		GroupMaxBytes:  int(knob("spate.group.max.bytes", p.GroupMaxBytes)),
		GroupsInFlight: int(p.GroupsInFlight.Value),
		SegmentBytes:   knob("spate.segment.bytes", p.SegmentBytes),
		HotBytes:       int(min(p.HotBytes.Value, memory/2)),
		ColdBytes:      int(memory / 8),
		ReadSlots:      int(knob("spate.read.slots", p.ReadSlots)),
		ReadSlotBytes:  int(knob("spate.read.slot.bytes", p.ReadSlotBytes)),
	}
}

func listen(cfg *config.Broker, e *engine.Engine, log *slog.Logger) (*netpoll.Server, error) {
	k := kafka.New(kafka.Options{Engine: e, Config: cfg, Log: log})
	var ls []netpoll.Listener
	for _, l := range cfg.Listeners {
		n := netpoll.Listener{Name: l.Name, Address: l.Addr(), Session: sessions(k)}
		if l.TLS {
			if cfg.TLS == nil {
				return nil, errors.New("listener " + l.Name + " uses SSL: ssl.keystore.location is not set")
			}
			t, err := cfg.TLS.Config(os.ReadFile)
			if err != nil {
				return nil, err
			}
			n.TLS = t
		}
		ls = append(ls, n)
	}
	return netpoll.Serve(netpoll.Options{
		Loops:          min(int(cfg.Int("num.network.threads")), 2),
		IdleTimeout:    time.Duration(cfg.Int("connections.max.idle.ms")) * time.Millisecond,
		MaxUnsentBytes: int(cfg.Int("spate.connection.unsent.bytes")),
		Budget:         netpoll.NewBudget(cfg.Int("spate.memory.bytes") / 2),
		Logger:         log,
	}, ls...)
}

// sessions lets a protocol serve netpoll's connections.
func sessions(p protocols.Protocol) func(netpoll.Conn) netpoll.Session {
	return func(c netpoll.Conn) netpoll.Session { return p.NewSession(c) }
}
