package codec_test

import "millrace.dev/buffer"

func emptyBuffer() *buffer.Buffer { return buffer.New(0) }
