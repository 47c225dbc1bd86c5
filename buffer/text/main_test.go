package text

import (
	"testing"

	"millrace.dev/buffer/buffertest"
)

func TestMain(m *testing.M) { buffertest.Main(m) }
