#include <string>
#include <string_view>
#include <vector>

#include "gtest/gtest.h"

#include "engine/protocol/response.h"
#include "tests/protocol/wire.h"

namespace liststore::protocol {
namespace result_test {

const DataType kText = CqlType::kText;
const DataType kInt = CqlType::kInt;

ColumnsMetadata Columns(std::span<const ColumnSpec> specs) {
  ColumnsMetadata columns;
  EXPECT_FALSE(columns.Assign(specs));
  return columns;
}

const ColumnSpec kItemKey = {"ks", "list_items", "item_key", &kText};
constexpr std::string_view kItemKeySpec =
    "0002 6b73 000a 6c6973745f6974656d73 0008 6974656d5f6b6579 000d";

// What follows the header, in hexadecimal, once its length is found to be right.
std::string BodyOf(const OutputBuffer& out) {
  EXPECT_EQ(out.BigEndian32At(5), out.size() - kFrameHeaderBytes);
  EXPECT_EQ(static_cast<uint8_t>(out.view()[4]), static_cast<uint8_t>(Opcode::kResult));
  return testing::ToHex(out.ViewFrom(kFrameHeaderBytes));
}

TEST(EncodeResultTest, VoidAndSetKeyspace) {
  OutputBuffer out;
  EncodeVoid(out, {});
  EXPECT_EQ(Hex(out), Hex("84 00 0000 08 00000004 00000001"));
  out.Clear();
  EncodeSetKeyspace(out, {}, "ks");
  EXPECT_EQ(BodyOf(out), Hex("00000003 0002 6b73"));
}

TEST(EncodeResultTest, Prepared) {
  const ColumnSpec markers[] = {{"ks", "list_items", "feature_key", &kText},
                                {"ks", "list_items", "entity_id", &kText},
                                {"ks", "list_items", "item_key", &kText},
                                {"ks", "list_items", "[limit]", &kInt}};
  const ColumnsMetadata bind_markers = Columns(markers);
  const ColumnsMetadata result_columns = Columns({&kItemKey, 1});
  const uint16_t indexes[] = {0, 1};
  const std::string id = Bytes("e967c0edb6f0f16f63284a8f03cbf4c1");
  PreparedResult prepared;
  prepared.id = id;
  prepared.bind_markers = &bind_markers;
  prepared.partition_key_indexes = indexes;
  prepared.result_columns = &result_columns;

  const std::string_view head = "00000004  0010 e967c0edb6f0f16f63284a8f03cbf4c1";
  const std::string_view specs =
      "0002 6b73  000a 6c6973745f6974656d73"
      "000b 666561747572655f6b6579 000d"
      "0009 656e746974795f6964 000d"
      "0008 6974656d5f6b6579 000d"
      "0007 5b6c696d69745d 0009";
  const std::string result = Hex("00000001 00000001") + Hex(kItemKeySpec);
  OutputBuffer out;
  EncodePrepared(out, {}, prepared);
  EXPECT_EQ(BodyOf(out),
            Hex(head) + Hex("00000001 00000004 00000002 0000 0001") + Hex(specs) + result);
  EXPECT_EQ(out.size(), kFrameHeaderBytes + 141);

  ResponseContext context;
  context.version = ProtocolVersion::kV3;
  out.Clear();
  EncodePrepared(out, context, prepared);
  EXPECT_EQ(BodyOf(out), Hex(head) + Hex("00000001 00000004") + Hex(specs) + result)
      << "version 3 has no indexes";

  context = {};
  context.extensions = {.lwt_mark = true, .metadata_id = true};
  prepared.result_metadata_id = "ab";
  prepared.is_conditional = true;
  out.Clear();
  EncodePrepared(out, context, prepared);
  EXPECT_EQ(BodyOf(out), Hex(head) + Hex("0002 6162") +
                             Hex("80000001 00000004 00000002 0000 0001") + Hex(specs) + result);
}

TEST(EncodeResultTest, PreparedWithoutMarkersAndRows) {
  const ColumnsMetadata none;
  PreparedResult prepared;
  prepared.id = "i";
  prepared.bind_markers = &none;
  prepared.is_conditional = true;
  OutputBuffer out;
  EncodePrepared(out, {}, prepared);
  EXPECT_EQ(BodyOf(out), Hex("00000004 0001 69 00000000 00000000 00000000 00000004 00000000"));
}

TEST(RowsEncoderTest, WithoutMetadata) {
  const ColumnsMetadata columns = Columns({&kItemKey, 1});
  OutputBuffer out;
  RowsEncoder rows(out, {}, columns, {.skip_metadata = true});
  for (const std::string_view key : {"k9", "k3"}) {
    rows.AppendBytes(key);
    rows.EndRow();
  }
  EXPECT_EQ(rows.row_count(), 2u);
  EXPECT_EQ(rows.row_bytes(), 12u);
  rows.Finish();
  EXPECT_EQ(BodyOf(out), Hex("00000002 00000004 00000001 00000002 00000002 6b39 00000002 6b33"));
}

TEST(RowsEncoderTest, WithMetadataAndCellsOfEveryKind) {
  const ColumnSpec specs[] = {kItemKey, {"ks", "list_items", "n", &kInt}};
  const ColumnsMetadata columns = Columns(specs);
  OutputBuffer out;
  out.Append("before");
  RowsEncoder rows(out, {}, columns, {});
  rows.AppendNull();
  rows.AppendInt(-2);
  rows.EndRow();
  rows.AppendBigint(-2);
  rows.AppendBoolean(true);
  rows.EndRow();
  rows.Append(Value::Null());
  rows.Append(Value::Of(""));
  rows.EndRow();
  *rows.Cell(1) = 'c';
  rows.AppendBytes("d");
  rows.EndRow();
  rows.AppendEncodedRows(Bytes("ffffffff ffffffff 00000000 00000000"), 2);
  EXPECT_EQ(rows.begin(), 6u);
  rows.Finish();
  out.DropFront(6);
  EXPECT_EQ(BodyOf(out), Hex("00000002 00000001 00000002") + Hex(kItemKeySpec) +
                             Hex("0001 6e 0009  00000006"
                                 "ffffffff 00000004 fffffffe"
                                 "00000008 fffffffffffffffe 00000001 01"
                                 "ffffffff 00000000"
                                 "00000001 63 00000001 64"
                                 "ffffffff ffffffff 00000000 00000000"));
}

TEST(RowsEncoderTest, PagingStateIsInsertedInItsPlace) {
  const ColumnsMetadata columns = Columns({&kItemKey, 1});
  const std::string row = "00000002 6b39";
  for (const bool skip_metadata : {false, true}) {
    OutputBuffer out;
    RowsEncoder rows(out, {}, columns, {.skip_metadata = skip_metadata});
    rows.AppendBytes("k9");
    rows.EndRow();
    rows.Finish("page");
    const std::string flags = Hex(skip_metadata ? "00000006" : "00000003");
    const std::string spec = skip_metadata ? "" : Hex(kItemKeySpec);
    EXPECT_EQ(BodyOf(out), Hex("00000002") + flags + Hex("00000001 00000004 70616765") + spec +
                               Hex("00000001") + Hex(row));
  }
}

TEST(RowsEncoderTest, ChangedMetadataAreWrittenWhateverTheClientSkips) {
  const ColumnsMetadata columns = Columns({&kItemKey, 1});
  RowsOptions options;
  options.skip_metadata = true;
  options.changed_metadata_id = "id";
  ResponseContext context;
  context.extensions.metadata_id = true;
  OutputBuffer out;
  RowsEncoder rows(out, context, columns, options);
  rows.Finish("p");
  EXPECT_EQ(BodyOf(out), Hex("00000002 0000000b 00000001 00000001 70 0002 6964") +
                             Hex(kItemKeySpec) + Hex("00000000"));
  out.Clear();
  RowsEncoder not_negotiated(out, {}, columns, options);
  not_negotiated.Finish();
  EXPECT_EQ(BodyOf(out), Hex("00000002 00000004 00000001 00000000"));
}

TEST(RowsEncoderTest, AbandonTakesTheWholeFrameBack) {
  const ColumnsMetadata columns = Columns({&kItemKey, 1});
  OutputBuffer out;
  EncodeReady(out, {});
  const std::string before(out.view());
  RowsEncoder rows(out, {}, columns, {});
  rows.AppendBytes("half a result");
  rows.Abandon();
  EXPECT_EQ(out.view(), before);
}

TEST(ColumnsMetadataTest, TablesThatDifferAreNamedByEachColumn) {
  const ColumnSpec specs[] = {{"k", "t", "a", &kInt}, {"k", "u", "b", &kText}};
  const ColumnsMetadata columns = Columns(specs);
  EXPECT_FALSE(columns.has_global_table());
  OutputBuffer out;
  RowsEncoder(out, {}, columns, {}).Finish();
  EXPECT_EQ(BodyOf(out),
            Hex("00000002 00000000 00000002"
                "0001 6b 0001 74 0001 61 0009  0001 6b 0001 75 0001 62 000d 00000000"));
}

TEST(ColumnsMetadataTest, WithoutColumnsThereIsNoTable) {
  EXPECT_FALSE(Columns({}).has_global_table());
  EXPECT_EQ(Columns({}).column_count(), 0u);
}

TEST(ColumnsMetadataTest, ANameThatDoesNotFitIsRefused) {
  const std::string alias(kShortMax + 1, 'a');
  const ColumnSpec spec = {"k", "t", alias, &kInt};
  ColumnsMetadata columns = Columns({&kItemKey, 1});
  const std::optional<ProtocolError> error = columns.Assign({&spec, 1});
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code, ErrorCode::kServerError);
  EXPECT_EQ(error->message, "Value too large, 65536 > 65535");
  EXPECT_EQ(columns.column_count(), 0u);
}

// The drivers' own encoding of every type that there is a DataType for.
TEST(TypeOptionTest, AgreesWithTheDrivers) {
  struct Spec {
    static std::optional<DataType> Parse(const boost::json::value& spec) {
      if (spec.is_string()) {
        const std::optional<CqlType> native = ParseCqlType(std::string_view(spec.get_string()));
        return native ? std::optional<DataType>(*native) : std::nullopt;
      }
      const auto& parts = spec.get_array();
      const std::string_view kind = parts[0].get_string();
      std::vector<DataType> parameters;
      if (kind == "udt" || kind == "vector") return std::nullopt;
      for (size_t i = 1; i < parts.size(); ++i) {
        const std::optional<DataType> parameter = Parse(parts[i]);
        if (!parameter) return std::nullopt;
        parameters.push_back(*parameter);
      }
      if (kind == "list") return DataType::List(parameters[0]);
      if (kind == "set") return DataType::Set(parameters[0]);
      if (kind == "map") return DataType::Map(parameters[0], parameters[1]);
      if (kind == "tuple") return DataType::Tuple(parameters);
      EXPECT_EQ(kind, "frozen");
      return DataType::Frozen(parameters[0]);
    }
  };
  const boost::json::value vectors = testing::LoadVectors("cql_types.json");
  size_t compared = 0;
  for (const boost::json::value& example : testing::ArrayAt(vectors, "cases")) {
    const std::optional<DataType> type = Spec::Parse(testing::ValueAt(example, "spec"));
    if (!type) continue;
    OutputBuffer out;
    AppendTypeOption(out, *type);
    EXPECT_EQ(Hex(out), testing::StringAt(example, "option_hex"))
        << testing::StringAt(example, "type");
    ++compared;
  }
  EXPECT_GE(compared, 150u);
}

}  // namespace result_test
}  // namespace liststore::protocol
