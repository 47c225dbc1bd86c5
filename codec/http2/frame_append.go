package http2

// What follows writes frames. Callers keep to the protocol's limits: lengths of payloads
// up to the peer's maximal frame size, identifiers of 31 bits.

// AppendFrameHeader appends a frame header; the payload of h.Length bytes comes next.
func AppendFrameHeader(dst []byte, h FrameHeader) []byte {
	return append(dst, byte(h.Length>>16), byte(h.Length>>8), byte(h.Length), byte(h.Type), byte(h.Flags),
		byte(h.StreamID>>24), byte(h.StreamID>>16), byte(h.StreamID>>8), byte(h.StreamID))
}

func appendUint32(dst []byte, v uint32) []byte {
	return append(dst, byte(v>>24), byte(v>>16), byte(v>>8), byte(v))
}

// AppendData appends a DATA frame with a copy of data.
func AppendData(dst []byte, id uint32, data []byte, end bool) []byte {
	return append(appendDataHeader(dst, id, len(data), end), data...)
}

func appendDataHeader(dst []byte, id uint32, n int, end bool) []byte {
	return AppendFrameHeader(dst, FrameHeader{uint32(n), FrameData, endStream(end), id})
}

func endStream(end bool) Flags {
	if end {
		return FlagEndStream
	}
	return 0
}

// AppendHeaders appends a header block as a HEADERS frame and as many CONTINUATION frames
// as it needs with payloads of up to maxFrame bytes.
func AppendHeaders(dst []byte, id uint32, block []byte, end bool, maxFrame int) []byte {
	h := FrameHeader{Type: FrameHeaders, Flags: endStream(end), StreamID: id}
	for {
		n := min(len(block), maxFrame)
		h.Length = uint32(n)
		if n == len(block) {
			h.Flags |= FlagEndHeaders
		}
		dst = append(AppendFrameHeader(dst, h), block[:n]...)
		if block = block[n:]; len(block) == 0 {
			return dst
		}
		h.Type, h.Flags = FrameContinuation, 0
	}
}

// AppendPriority appends a PRIORITY frame, which RFC 9113 section 5.3 deprecates; weight
// counts from 0.
func AppendPriority(dst []byte, id, dependsOn uint32, exclusive bool, weight uint8) []byte {
	if exclusive {
		dependsOn |= 1 << 31
	}
	dst = AppendFrameHeader(dst, FrameHeader{5, FramePriority, 0, id})
	return append(appendUint32(dst, dependsOn), weight)
}

// AppendRSTStream appends a RST_STREAM frame.
func AppendRSTStream(dst []byte, id uint32, code ErrCode) []byte {
	dst = AppendFrameHeader(dst, FrameHeader{4, FrameRSTStream, 0, id})
	return appendUint32(dst, uint32(code))
}

// AppendSettings appends a SETTINGS frame.
func AppendSettings(dst []byte, settings ...Setting) []byte {
	dst = AppendFrameHeader(dst, FrameHeader{Length: uint32(len(settings) * settingLen), Type: FrameSettings})
	for _, s := range settings {
		dst = append(dst, byte(s.ID>>8), byte(s.ID))
		dst = appendUint32(dst, s.Value)
	}
	return dst
}

// AppendSettingsAck appends the acknowledgement of a SETTINGS frame.
func AppendSettingsAck(dst []byte) []byte {
	return AppendFrameHeader(dst, FrameHeader{Type: FrameSettings, Flags: FlagAck})
}

// AppendPushPromise appends a PUSH_PROMISE frame with a whole header block.
func AppendPushPromise(dst []byte, id, promised uint32, block []byte) []byte {
	dst = AppendFrameHeader(dst, FrameHeader{uint32(4 + len(block)), FramePushPromise, FlagEndHeaders, id})
	return append(appendUint32(dst, promised), block...)
}

// AppendPing appends a PING frame, or the answer to one.
func AppendPing(dst []byte, data [8]byte, ack bool) []byte {
	h := FrameHeader{Length: 8, Type: FramePing}
	if ack {
		h.Flags = FlagAck
	}
	return append(AppendFrameHeader(dst, h), data[:]...)
}

// AppendGoAway appends a GOAWAY frame.
func AppendGoAway(dst []byte, lastStream uint32, code ErrCode, debug string) []byte {
	dst = AppendFrameHeader(dst, FrameHeader{Length: uint32(8 + len(debug)), Type: FrameGoAway})
	dst = appendUint32(dst, lastStream)
	dst = appendUint32(dst, uint32(code))
	return append(dst, debug...)
}

// AppendWindowUpdate appends a WINDOW_UPDATE frame; id 0 is the connection.
func AppendWindowUpdate(dst []byte, id, increment uint32) []byte {
	dst = AppendFrameHeader(dst, FrameHeader{4, FrameWindowUpdate, 0, id})
	return appendUint32(dst, increment)
}

// AppendPriorityUpdate appends a PRIORITY_UPDATE frame, RFC 9218 section 7.1.
func AppendPriorityUpdate(dst []byte, prioritized uint32, value string) []byte {
	dst = AppendFrameHeader(dst, FrameHeader{Length: uint32(4 + len(value)), Type: FramePriorityUpdate})
	return append(appendUint32(dst, prioritized), value...)
}
