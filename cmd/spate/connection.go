package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

const defaultBootstrap = "127.0.0.1:9092"

// connection is how to reach the broker: the flags of every client command.
type connection struct {
	bootstrap string
	timeout   time.Duration
	security  security
}

// addFlags adds the connection's flags to a client command and its children.
func (c *connection) addFlags(cmd *cobra.Command) {
	f := cmd.PersistentFlags()
	def := defaultBootstrap
	if env := os.Getenv("SPATE_BOOTSTRAP"); env != "" {
		def = env
	}
	f.StringVar(&c.bootstrap, "bootstrap", def, "brokers to connect to, `HOST:PORT[,HOST:PORT]` (environment: SPATE_BOOTSTRAP)")
	f.DurationVar(&c.timeout, "timeout", 10*time.Second, "how long to wait for the broker")
	c.security.addFlags(f)
}

// addJSONFlag adds --json.
func (a *app) addJSONFlag(f *pflag.FlagSet) {
	f.BoolVar(&a.json, "json", false, "print JSON")
}

// seeds checks and splits the bootstrap setting.
func (c *connection) seeds() ([]string, error) {
	var seeds []string
	for _, s := range strings.Split(c.bootstrap, ",") {
		s = strings.TrimSpace(s)
		host, port, err := net.SplitHostPort(s)
		if err != nil {
			return nil, usageError("--bootstrap %s: expected HOST:PORT, such as %s", quote(s), defaultBootstrap)
		}
		if n, err := strconv.Atoi(port); err != nil || n < 1 || n > 65535 {
			return nil, usageError("--bootstrap %s: port %s is not a number from 1 to 65535", quote(s), quote(port))
		}
		if host == "" {
			s = net.JoinHostPort("127.0.0.1", port)
		}
		seeds = append(seeds, s)
	}
	return seeds, nil
}

// client connects with further options. The broker has answered once when it
// returns, so that a wrong address is an error at once instead of retries.
func (c *connection) client(ctx context.Context, opts ...kgo.Opt) (*kgo.Client, error) {
	seeds, err := c.seeds()
	if err != nil {
		return nil, err
	}
	secure, err := c.security.options()
	if err != nil {
		return nil, err
	}
	all := []kgo.Opt{
		kgo.SeedBrokers(seeds...),
		kgo.ClientID("spate-cli"),
		kgo.SoftwareNameAndVersion("spate", cleanVersion(currentVersion().Version)),
		kgo.DialTimeout(c.timeout),
		kgo.RetryTimeout(c.timeout),
	}
	cl, err := kgo.NewClient(append(append(all, secure...), opts...)...)
	if err != nil {
		return nil, fmt.Errorf("create Kafka client: %w", err)
	}
	pingCtx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	if err := cl.Ping(pingCtx); err != nil {
		cl.Close()
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, unreachable(strings.Join(seeds, ","), err)
	}
	return cl, nil
}

// admin runs f with an administrative client and a context that ends after the
// command's timeout.
func (c *connection) admin(ctx context.Context, f func(context.Context, *kadm.Client) error) error {
	cl, err := c.client(ctx)
	if err != nil {
		return err
	}
	defer cl.Close()
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	adm := kadm.NewClient(cl)
	adm.SetTimeoutMillis(int32(min(c.timeout.Milliseconds(), 1<<31-1)))
	return f(ctx, adm)
}
