package channel_test

import (
	"strings"
	"testing"

	"millrace.dev/channel"
)

func TestValidate(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(c *channel.Config){
		"WriteBufferHigh": func(c *channel.Config) { *c = channel.Config{} }, // the first that is looked at
		"MaxReadsPerTurn": func(c *channel.Config) { c.MaxReadsPerTurn = -1 },
		"ReadBuffer":      func(c *channel.Config) { c.ReadBuffer = 0 },
		"ReadBufferMax":   func(c *channel.Config) { c.ReadBufferMax = 0 },
		"WriteBufferLow":  func(c *channel.Config) { c.WriteBufferLow = c.WriteBufferHigh + 1 },
	} {
		c := channel.NewConfig()
		change(c)
		if err := c.Validate(); err == nil || !strings.Contains(err.Error(), name+" is") {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, change := range []func(c *channel.Config){
		func(*channel.Config) {},
		func(c *channel.Config) { c.AutoRead = false },
		func(c *channel.Config) { c.WriteBufferLow, c.WriteBufferHigh = 0, 1 },
	} {
		c := channel.NewConfig()
		change(c)
		if err := c.Validate(); err != nil {
			t.Error(err)
		}
	}
}
