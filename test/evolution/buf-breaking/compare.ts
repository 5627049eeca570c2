/** Where one of the two finds something and the other finds nothing. */
import { findWireDifferences } from "../../../shared/evolution/index.js";
import type { ProtoField, ProtoMessage, ProtoSchema } from "../../../shared/protobuf/proto-schema.js";
import type { Finding } from "./finding.js";
import type { ProtoPair } from "./pair.js";

/** What one says and the other does not. */
export interface OneSided extends Finding {
  readonly pair: ProtoPair;
  /** What the unit is, or belongs to: of the same name on both sides. */
  readonly owner: { readonly older?: ProtoMessage | undefined; readonly newer?: ProtoMessage | undefined };
  /** The unit itself, where it is a field. */
  readonly older?: ProtoField | undefined;
  readonly newer?: ProtoField | undefined;
}

/** @returns the findings in units of which one of the two finds nothing; what both find something in, they agree on */
export function oneSided(pair: ProtoPair, findings: readonly Finding[]): readonly OneSided[] {
  const said = new Set(findings.map(({ by, unit }) => `${by} ${unit}`));
  const other = { buf: "viceroy", viceroy: "buf" } as const;
  return findings
    .filter(({ by, unit }) => !said.has(`${other[by]} ${unit}`))
    .map((finding) => withFields(pair, finding));
}

function withFields(pair: ProtoPair, finding: Finding): OneSided {
  const [owner = "", number] = finding.unit.split("#");
  const fieldOf = (message: ProtoMessage | undefined) => message?.fields.find((one) => one.number === Number(number));
  const older = pair.older.schema.messages.get(owner);
  const newer = pair.newer.schema.messages.get(owner);
  return { ...finding, pair, owner: { older, newer }, older: fieldOf(older), newer: fieldOf(newer) };
}

/** Whether our rules have nothing to say of the types of two fields, and of all that is in them. */
export function areAlike({ pair, older, newer }: OneSided): boolean {
  if (older === undefined || newer === undefined) return false;
  const roots = { messages: [{ older: holder, newer: holder }], actors: [] };
  return findWireDifferences(holding(pair.older.schema, older), holding(pair.newer.schema, newer), roots).length === 0;
}

const holder = "holder.v1.Holder";

function holding(schema: ProtoSchema, { name, jsonName, type }: ProtoField): ProtoSchema {
  const field: ProtoField = { name, jsonName, type, number: 1, cardinality: "repeated" };
  return { ...schema, messages: new Map([...schema.messages, [holder, { name: holder, fields: [field] }]]) };
}
