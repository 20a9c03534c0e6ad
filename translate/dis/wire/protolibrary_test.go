package wire

import (
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"
)

// disSchema is the schema of the SDKs in Google's implementation, which the
// protobuf codec is held to. The withdrawn extendedInfo (field 7) is left out of
// it, so that it is an unknown field on both sides.
var disSchema = schemaOf(map[string]string{
	"PutRecordsRequest":      "optional string streamName 1; optional string streamId 30; repeated PutRecordsRequestEntry records 2",
	"PutRecordsRequestEntry": "optional bytes data 3; optional string explicitHashKey 4; optional string partitionKey 5; optional string partitionId 6; optional int64 timestamp 29",
	"PutRecordsResult":       "required int32 failedRecordCount 21; repeated PutRecordsResultEntry records 22",
	"PutRecordsResultEntry":  "optional string shardId 23; optional string sequenceNumber 24; optional string errorCode 25; optional string errorMessage 26",
	"GetRecordsResult":       "required string nextShardIterator 14; repeated Record records 16",
	"Record":                 "optional string partitionKey 17; required string sequenceNumber 18; optional bytes data 19; optional int64 timestamp 27; optional string timestampType 28",
})

// schemaOf builds proto2 messages, each described by its fields: label, type,
// name and number.
func schemaOf(messages map[string]string) protoreflect.FileDescriptor {
	file := &descriptorpb.FileDescriptorProto{Name: proto.String("dis.proto"), Syntax: proto.String("proto2"), Package: proto.String("dis")}
	for name, fields := range messages {
		message := &descriptorpb.DescriptorProto{Name: proto.String(name)}
		for text := range strings.SplitSeq(fields, "; ") {
			message.Field = append(message.Field, schemaField(strings.Fields(text)))
		}
		file.MessageType = append(file.MessageType, message)
	}
	built, err := protodesc.NewFile(file, nil)
	if err != nil {
		panic(err)
	}
	return built
}

func schemaField(words []string) *descriptorpb.FieldDescriptorProto {
	number := int32(0)
	for _, digit := range words[3] {
		number = number*10 + digit - '0'
	}
	field := &descriptorpb.FieldDescriptorProto{
		Name: proto.String(words[2]), Number: proto.Int32(number),
		Label: descriptorpb.FieldDescriptorProto_Label(descriptorpb.FieldDescriptorProto_Label_value["LABEL_"+strings.ToUpper(words[0])]).Enum(),
	}
	if kind, scalar := descriptorpb.FieldDescriptorProto_Type_value["TYPE_"+strings.ToUpper(words[1])]; scalar {
		field.Type = descriptorpb.FieldDescriptorProto_Type(kind).Enum()
	} else {
		field.Type = descriptorpb.FieldDescriptorProto_TYPE_MESSAGE.Enum()
		field.TypeName = proto.String(".dis." + words[1])
	}
	return field
}

// libraryMessage is a message of Google's implementation, with access by name.
type libraryMessage struct{ protoreflect.Message }

func newLibraryMessage(name protoreflect.Name) libraryMessage {
	return libraryMessage{dynamicpb.NewMessage(disSchema.Messages().ByName(name))}
}

func (m libraryMessage) field(name string) protoreflect.FieldDescriptor {
	return m.Descriptor().Fields().ByName(protoreflect.Name(name))
}

func (m libraryMessage) set(name string, value any) {
	m.Set(m.field(name), protoreflect.ValueOf(value))
}

func (m libraryMessage) setText(name, text string) {
	if text != "" {
		m.set(name, text)
	}
}

// add appends an element to a repeated field.
func (m libraryMessage) add(name string) libraryMessage {
	return libraryMessage{m.Mutable(m.field(name)).List().AppendMutable().Message()}
}

func (m libraryMessage) each(name string, do func(libraryMessage)) {
	list := m.Get(m.field(name)).List()
	for i := range list.Len() {
		do(libraryMessage{list.Get(i).Message()})
	}
}

func (m libraryMessage) has(name string) bool    { return m.Has(m.field(name)) }
func (m libraryMessage) text(name string) string { return m.Get(m.field(name)).String() }
func (m libraryMessage) integer(name string) int64 {
	return m.Get(m.field(name)).Int()
}

func (m libraryMessage) data(name string) []byte {
	if !m.has(name) {
		return nil
	}
	return append([]byte{}, m.Get(m.field(name)).Bytes()...)
}

func (m libraryMessage) optionalText(name string) *string {
	if !m.has(name) {
		return nil
	}
	text := m.text(name)
	return &text
}
