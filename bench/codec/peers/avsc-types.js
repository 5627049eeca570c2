/** The messages as Avro types. */
import avro from "avsc";

const point = record("Point", [field("lat", "double"), field("lon", "double")]);
const item = record("Item", [field("sku", "string"), field("qty", "int"), field("price", "double")]);
const person = record("Person", [
  field("id", "int"),
  field("name", "string"),
  field("email", "string"),
  field("city", "string"),
]);
const list = avro.Type.forSchema(record("People", [field("people", { type: "array", items: person })]));

export const types = {
  tiny: avro.Type.forSchema(record("Tiny", [field("seq", "long"), field("ok", "boolean")])),
  record: avro.Type.forSchema(
    record("Rec", [
      field("id", "long"),
      field("name", "string"),
      field("email", "string"),
      field("createdAt", "double"),
      field("score", "double"),
      field("level", "int"),
      field("active", "boolean"),
      field("status", "int"),
      { name: "note", type: ["null", "string"], default: null },
      { name: "parent", type: ["null", "long"], default: null },
      field("path", "string"),
      field("origin", point),
      field("items", { type: "array", items: item }),
    ]),
  ),
  list,
  listWide: list,
  numbers: avro.Type.forSchema(
    record("Numbers", [
      field("name", "string"),
      field("step", "int"),
      field("values", { type: "array", items: "double" }),
    ]),
  ),
};

function record(name, fields) {
  return { type: "record", name, fields };
}

function field(name, type) {
  return { name, type };
}
