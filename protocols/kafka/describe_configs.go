package kafka

import (
	"strconv"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/spatemq/spate/engine/catalog"
	"github.com/spatemq/spate/engine/config"
)

func init() { register(32, 1, 4, serveAdmin(answerDescribeConfigs)) }

// maxDescribedSettings is from when on an answer tells no further resource, some
// 10,000 topics: about 100 MB of memory.
const maxDescribedSettings = 400_000

func answerDescribeConfigs(a admin, req *kmsg.DescribeConfigsRequest, reply func(response)) {
	resp := req.ResponseKind().(*kmsg.DescribeConfigsResponse)
	resp.Resources = make([]kmsg.DescribeConfigsResponseResource, len(req.Resources))
	told := 0
	for i, asked := range req.Resources {
		r := &resp.Resources[i]
		*r = kmsg.NewDescribeConfigsResponseResource()
		r.ResourceType, r.ResourceName = asked.ResourceType, asked.ResourceName
		entries, err := []config.Entry(nil), invalid("Too many resources in one request.")
		if told < maxDescribedSettings {
			entries, err = describe(a.Catalog(), asked)
		}
		told += len(entries)
		r.ErrorCode, r.ErrorMessage = adminError(err)
		if r.ErrorMessage == nil {
			r.ErrorMessage = kmsg.StringPtr("") // as Kafka does
		}
		r.Configs = describedConfigs(req, entries)
	}
	reply(resp)
}

// describe looks a resource's settings up. Names that are not known are left
// out.
func describe(c *catalog.Catalog, asked kmsg.DescribeConfigsRequestResource) ([]config.Entry, error) {
	switch asked.ResourceType {
	case kmsg.ConfigResourceTypeTopic:
		return describeTopic(c, asked)
	case kmsg.ConfigResourceTypeBroker:
		if asked.ResourceName == "" {
			return config.DescribeBrokerDefaults(c.Layers(), asked.ConfigNames), nil
		}
		if err := wantThisBroker(c, asked.ResourceName, " or empty string,"); err != nil {
			return nil, err
		}
		return config.DescribeBroker(c.Layers(), asked.ConfigNames), nil
	case kmsg.ConfigResourceTypeBrokerLogger:
		if asked.ResourceName == "" {
			return nil, invalid("Broker id must not be empty")
		}
		return nil, wantThisBroker(c, asked.ResourceName, "") // there are no loggers to set
	}
	return nil, invalid("Unexpected resource type " + asked.ResourceType.String() + " for resource " + asked.ResourceName)
}

func describeTopic(c *catalog.Catalog, asked kmsg.DescribeConfigsRequestResource) ([]config.Entry, error) {
	if err := catalog.ValidateTopicName(asked.ResourceName); err != nil {
		return nil, err
	}
	t := c.Topic(asked.ResourceName)
	if t == nil {
		return nil, &catalog.Error{Kind: catalog.UnknownTopic}
	}
	return config.DescribeTopic(t.Config, c.Layers(), asked.ConfigNames), nil
}

func wantThisBroker(c *catalog.Catalog, name, alternative string) error {
	id, err := strconv.ParseInt(name, 10, 32)
	if err != nil {
		return invalid("Broker id must be an integer, but it is: " + name)
	}
	if want := c.NodeID(); int32(id) != want {
		return invalid("Unexpected broker id, expected " + strconv.Itoa(int(want)) + alternative + " but received " + name)
	}
	return nil
}

func describedConfigs(req *kmsg.DescribeConfigsRequest, entries []config.Entry) []kmsg.DescribeConfigsResponseResourceConfig {
	configs := make([]kmsg.DescribeConfigsResponseResourceConfig, len(entries))
	for i := range entries {
		e, c := &entries[i], &configs[i]
		*c = kmsg.NewDescribeConfigsResponseResourceConfig()
		c.Name, c.Value = e.Name, e.Value
		c.Source, c.ConfigType = kmsg.ConfigSource(e.Source), kmsg.ConfigType(e.Type)
		c.ReadOnly, c.IsSensitive = e.ReadOnly, e.Sensitive
		if req.IncludeSynonyms {
			c.ConfigSynonyms = describedSynonyms(e.Synonyms)
		}
		if req.IncludeDocumentation && e.Doc != "" {
			c.Documentation = &e.Doc
		}
	}
	return configs
}

func describedSynonyms(from []config.EntrySynonym) []kmsg.DescribeConfigsResponseResourceConfigConfigSynonym {
	synonyms := make([]kmsg.DescribeConfigsResponseResourceConfigConfigSynonym, len(from))
	for i, s := range from {
		synonyms[i] = kmsg.NewDescribeConfigsResponseResourceConfigConfigSynonym()
		synonyms[i].Name, synonyms[i].Value, synonyms[i].Source = s.Name, s.Value, kmsg.ConfigSource(s.Source)
	}
	return synonyms
}
