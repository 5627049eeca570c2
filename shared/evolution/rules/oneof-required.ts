/**
 * Reports a `oneof` of which the reader requires a case and the writer may set none. A case that the reader does not
 * know counts, because it is kept as an unknown field.
 */
import type { ProtoMessage } from "../../protobuf/proto-schema.js";
import { isAlwaysWritten } from "../demanded-fields.js";
import type { MessageRule } from "../wire-rule.js";
import { oneofsOf } from "./oneof-changed.js";

export const oneofRequired: MessageRule = {
  code: "VC5007",
  name: "oneof-required",
  fix: "Leave it as it was, required or not, and add another member.",
  compares: "message",
  find({ older, newer }) {
    const refused = (reader: ProtoMessage, writer: ProtoMessage, text: string) =>
      missed(reader, writer).map((oneof) => ({ place: `${newer.name}.${oneof}`, text }));
    const found = [
      ...refused(newer, older, "messages of the older schema with none of its cases are refused"),
      ...refused(older, newer, "readers of the older schema refuse messages with none of its cases"),
    ];
    return found.filter(({ place }, i) => found.findIndex((other) => other.place === place) === i);
  },
};

/**
 * Returns the `oneof`s that `reader` requires and for which `writer` may write neither a known case nor a field that
 * could be an unknown case.
 */
function missed(reader: ProtoMessage, writer: ProtoMessage): readonly string[] {
  const demanded = reader.demandedOneofs ?? [];
  const always = alwaysWritten(writer);
  const known = new Set(reader.fields.map(({ number }) => number));
  return oneofsOf(reader)
    .filter(([oneof]) => demanded.includes(oneof))
    .filter(([, cases]) => {
      const numbers = new Set(cases.map(({ number }) => number));
      return !always.some((group) => group.every((number) => numbers.has(number) || !known.has(number)));
    })
    .map(([oneof]) => oneof);
}

/** Returns groups of field numbers. Every message contains one field of each group. */
function alwaysWritten(writer: ProtoMessage): readonly (readonly number[])[] {
  const demanded = writer.demandedOneofs ?? [];
  return [
    ...oneofsOf(writer)
      .filter(([oneof]) => demanded.includes(oneof))
      .map(([, cases]) => cases.map(({ number }) => number)),
    ...writer.fields.filter(isAlwaysWritten).map(({ number }) => [number]),
  ];
}
