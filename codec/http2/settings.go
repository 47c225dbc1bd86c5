package http2

import "strconv"

// SettingID names a setting, RFC 9113 section 6.5.2.
type SettingID uint16

// The settings that a Conn knows; others are ignored.
const (
	SettingHeaderTableSize      SettingID = 0x1
	SettingEnablePush           SettingID = 0x2
	SettingMaxConcurrentStreams SettingID = 0x3
	SettingInitialWindowSize    SettingID = 0x4
	SettingMaxFrameSize         SettingID = 0x5
	SettingMaxHeaderListSize    SettingID = 0x6
	SettingEnableConnect        SettingID = 0x8 // RFC 8441
	SettingNoPriorities         SettingID = 0x9 // RFC 9218
)

// String returns the setting's registered name.
func (id SettingID) String() string {
	switch id {
	case SettingHeaderTableSize:
		return "HEADER_TABLE_SIZE"
	case SettingEnablePush:
		return "ENABLE_PUSH"
	case SettingMaxConcurrentStreams:
		return "MAX_CONCURRENT_STREAMS"
	case SettingInitialWindowSize:
		return "INITIAL_WINDOW_SIZE"
	case SettingMaxFrameSize:
		return "MAX_FRAME_SIZE"
	case SettingMaxHeaderListSize:
		return "MAX_HEADER_LIST_SIZE"
	case SettingEnableConnect:
		return "ENABLE_CONNECT_PROTOCOL"
	case SettingNoPriorities:
		return "NO_RFC7540_PRIORITIES"
	}
	return "setting 0x" + strconv.FormatUint(uint64(id), 16)
}

// Setting is one entry of a SETTINGS frame.
type Setting struct {
	ID    SettingID
	Value uint32
}

const settingLen = 6

func parseSetting(p []byte) Setting {
	return Setting{SettingID(p[0])<<8 | SettingID(p[1]), beUint32(p[2:])}
}

// peerSettings are what the peer has announced and is held to here.
type peerSettings struct {
	window        uint32 // what its streams' windows begin with
	maxFrame      uint32
	maxStreams    uint32
	maxHeaderList uint32
	tableSize     uint32
	leastTable    uint32 // the least that tableSize was within one frame
	connect       bool   // extended CONNECT, RFC 8441
}

var defaultPeerSettings = peerSettings{
	window:        DefaultWindow,
	maxFrame:      MinMaxFrameSize,
	maxStreams:    1<<32 - 1,
	maxHeaderList: 1<<32 - 1,
	tableSize:     DefaultTableBytes,
	leastTable:    DefaultTableBytes,
}

// apply takes one entry over. fromServer says who has sent it: a server must not enable
// push, RFC 9113 section 6.5.2.
func (p *peerSettings) apply(s Setting, fromServer bool) error {
	switch s.ID {
	case SettingHeaderTableSize:
		p.tableSize = s.Value
		p.leastTable = min(p.leastTable, s.Value)
	case SettingEnablePush:
		if s.Value > 1 || s.Value == 1 && fromServer {
			return errSetValue
		}
	case SettingMaxConcurrentStreams:
		p.maxStreams = s.Value
	case SettingInitialWindowSize:
		if s.Value > MaxWindow {
			return errSetWindow
		}
		p.window = s.Value
	case SettingMaxFrameSize:
		if s.Value < MinMaxFrameSize || s.Value > MaxMaxFrameSize {
			return errSetFrameSize
		}
		p.maxFrame = s.Value
	case SettingMaxHeaderListSize:
		p.maxHeaderList = s.Value
	case SettingEnableConnect:
		// RFC 8441 section 3: once 1, always 1.
		if s.Value > 1 || s.Value == 0 && p.connect {
			return errSetValue
		}
		p.connect = s.Value == 1
	case SettingNoPriorities:
		if s.Value > 1 {
			return errSetValue
		}
	}
	return nil
}
