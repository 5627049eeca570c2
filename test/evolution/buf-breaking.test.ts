/**
 * Compares what `buf breaking`, with its category WIRE, finds in the `.proto` files of two schemas with what our wire
 * rules find in the schemas. They must agree on every member, except for the differences that are listed here with
 * their reasons. The list can only shrink: a difference that no pair of the corpus shows is an error.
 */
import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { ProtoType } from "../../shared/protobuf/proto-schema.js";
import { readText } from "../compiler/source/read.js";
import { peer } from "../peers.js";
import { cases } from "../profile.js";
import { randomNumbers } from "../random.js";
import { hasValues, randomSchema } from "../wire/random-schema.js";
import { bufFindings } from "./buf-breaking/buf.js";
import { areAlike, type OneSided, oneSided } from "./buf-breaking/compare.js";
import { corpus } from "./buf-breaking/corpus.js";
import { ourFindings } from "./buf-breaking/ours.js";
import { type ProtoPair, pairOf } from "./buf-breaking/pair.js";
import { mutateSchema } from "./mutate-schema.js";

interface Difference {
  readonly name: string;
  readonly reason: string;
  explains(finding: OneSided): boolean;
}

/** The groups of scalars that buf treats as one encoding and that our rules treat as different types. */
const encodings: readonly (readonly string[])[] = [
  ["int32", "uint32", "int64", "uint64", "bool"],
  ["sint32", "sint64"],
  ["fixed32", "sfixed32"],
  ["fixed64", "sfixed64"],
];

const differences: readonly Difference[] = [
  {
    name: "integers of one encoding",
    reason: "buf lets int64 become int32, which cuts large numbers: one direction at least misreads values",
    explains: ({ rule, older, newer }) => {
      const both = [older, newer].map((field) => (rule === "VC5003" ? field?.key : field && scalarOf(field.type)));
      if (rule !== "VC5001" && rule !== "VC5003") return false;
      return encodings.some((list) => both.every((scalar) => scalar !== undefined && list.includes(scalar)));
    },
  },
  {
    name: "a string that becomes bytes",
    reason: "the newer side may write bytes that are no UTF-8, and the older one refuses them",
    explains: ({ rule, older, newer }) =>
      rule === "VC5001" &&
      [older, newer].map((field) => field && scalarOf(field.type)).join() === ["string", "bytes"].join(),
  },
  {
    name: "an enum and int32",
    reason: "enums are open: every number of int32 is read, kept and written again",
    explains: ({ rule, older, newer }) =>
      rule === "FIELD_WIRE_COMPATIBLE_TYPE" &&
      [older, newer].some((field) => field?.type.kind === "enum") &&
      [older, newer].some((field) => field && scalarOf(field.type) === "int32"),
  },
  {
    name: "types of other names that are alike",
    reason: "names of types are not on the wire: what is in them is compared",
    explains: (finding) => isCalledAnew(finding) && areAlike(finding),
  },
  {
    name: "maps of other names",
    reason: "protobuf calls the entry of a map after its field: buf takes a renamed map for one of another type",
    explains: (finding) => {
      const { rule, older, newer } = finding;
      const areMaps = [older, newer].every((field) => field?.cardinality === "map");
      if (rule !== "FIELD_WIRE_COMPATIBLE_TYPE" || !areMaps || older?.name === newer?.name) return false;
      return older?.key === newer?.key && (isDeepStrictEqual(older?.type, newer?.type) || areAlike(finding));
    },
  },
  {
    name: "members of a type with another name",
    reason: "buf names the member that has the type, we name what has changed inside of it",
    explains: (finding) =>
      (isCalledAnew(finding) && !areAlike(finding)) || (isInNewMessage(finding) && !isOfCall(finding)),
  },
  {
    name: "endpoints with another name",
    reason: "buf knows an rpc by its name and compares it with none; we know it by its id, which stays",
    explains: (finding) => isInNewMessage(finding) && isOfCall(finding),
  },
  {
    name: "one member in and out of a oneof",
    reason: "what one side may set beside it the other does not know: no message is read differently",
    explains: ({ rule, older, newer, owner }) => {
      if (rule !== "FIELD_SAME_ONEOF" || (older?.oneof === undefined) === (newer?.oneof === undefined)) return false;
      const [message, other] = newer?.oneof === undefined ? [owner.older, owner.newer] : [owner.newer, owner.older];
      const oneof = newer?.oneof ?? older?.oneof;
      const group = message?.fields.filter((field) => field.oneof === oneof) ?? [];
      return group.filter(({ number }) => other?.fields.some((field) => field.number === number)).length === 1;
    },
  },
  {
    name: "oneofs of other names",
    reason: "names of oneofs are not on the wire, and the same members exclude each other as before",
    explains: ({ rule, older, newer }) =>
      rule === "FIELD_SAME_ONEOF" &&
      older?.oneof !== undefined &&
      newer?.oneof !== undefined &&
      older.oneof !== newer.oneof,
  },
  {
    name: "required members",
    reason: "proto3 has no required fields; here readers refuse messages without them, and buf cannot see that",
    explains: ({ rule, older, newer }) =>
      (rule === "VC5004" && (newer?.demanded ?? newer?.always ?? false)) ||
      (rule === "VC5005" && (older?.demanded ?? older?.always ?? false)),
  },
  {
    name: "required oneofs",
    reason: "protobuf has no oneofs of which a case must be set; here readers refuse messages with none",
    explains: ({ rule, owner }) =>
      rule === "VC5007" && [owner.older, owner.newer].some((one) => (one?.demandedOneofs ?? []).length > 0),
  },
  {
    name: "tuples",
    reason: "a `.proto` does not say that the reader of a message keeps no unknown fields",
    explains: ({ rule, owner }) =>
      rule === "VC5008" &&
      [owner.older, owner.newer].some((one) => one?.standsFor !== undefined && one.standsFor !== "oneof"),
  },
  {
    name: "sets",
    reason: "a `.proto` does not say that the reader of a list drops what comes twice",
    explains: ({ rule, older, newer }) => rule === "VC5011" && older?.unique !== newer?.unique,
  },
  {
    name: "narrow elements",
    reason: "a `.proto` does not say that numbers have fewer bits than their type, or times no nanoseconds",
    explains: ({ rule, older, newer }) =>
      rule === "VC5010" && (older?.bits !== newer?.bits || older?.millis !== newer?.millis),
  },
  {
    name: "values of enums that move",
    reason:
      "buf counts names of values as names, which are not on the wire (its category WIRE_JSON does); here numbers mean them",
    explains: ({ rule }) => rule === "VC5009",
  },
  {
    name: "handles",
    reason: "what a port takes is not in its bytes, and no `.proto` says it",
    explains: ({ rule, older, newer }) =>
      rule === "VC5012" && older?.carries !== undefined && newer?.carries !== undefined,
  },
  {
    name: "actors and endpoints that have gone",
    reason: "buf's category WIRE lets services and rpcs go (PACKAGE does not), though calls to them fail",
    explains: ({ rule }) => rule === "VC5013" || rule === "VC5015",
  },
  {
    name: "ids of actors and endpoints",
    reason: "calls name ids, which no `.proto` has",
    explains: ({ rule }) => rule === "VC5014" || rule === "VC5016",
  },
  {
    name: "idempotent endpoints",
    reason: "no byte depends on it: a rule of the class BEHAVIOUR (VC5050) says it",
    explains: ({ rule }) => rule === "RPC_SAME_IDEMPOTENCY_LEVEL",
  },
  {
    name: "numbers that are not reserved",
    reason: "removing a member harms nobody, using its number again does: the lock sees to that (VC5018, VC5019)",
    explains: ({ rule, older, newer, owner, unit }) => {
      if (rule === "ENUM_VALUE_NO_DELETE_UNLESS_NUMBER_RESERVED") return true;
      const number = Number(unit.split("#")[1]);
      const isReserved = owner.newer?.reserved?.numbers.includes(number) ?? false;
      return (
        rule === "FIELD_NO_DELETE_UNLESS_NUMBER_RESERVED" && older !== undefined && newer === undefined && !isReserved
      );
    },
  },
];

function scalarOf(type: ProtoType): string {
  return type.kind === "scalar" ? type.scalar : "";
}

/** Returns whether both sides have a message, or both an enum, under different names. */
function isCalledAnew({ rule, older, newer }: OneSided): boolean {
  const [was, is] = [older?.type, newer?.type];
  if (rule !== "FIELD_WIRE_COMPATIBLE_TYPE" || was === undefined || is === undefined) return false;
  return was.kind !== "scalar" && is.kind === was.kind && was.name !== is.name;
}

/** Returns whether we found the difference in a message whose name the older side does not have. */
function isInNewMessage({ by, owner }: OneSided): boolean {
  return by === "viceroy" && owner.older === undefined && owner.newer !== undefined;
}

/** Returns whether the finding is in the request or the response of an endpoint. */
function isOfCall({ unit, pair }: OneSided): boolean {
  const [owner] = unit.split("#");
  return [...pair.newer.schema.services.values()].some(({ methods }) =>
    methods.some(({ request, response }) => owner === request || owner === response),
  );
}

/** Returns the names of the listed differences that explain a finding. */
function explanationsOf(finding: OneSided): readonly string[] {
  return differences.filter((difference) => difference.explains(finding)).map(({ name }) => name);
}

function textOf({ by, rule, unit, older, newer }: OneSided): string {
  return `${by} alone says ${rule} of ${unit}: ${JSON.stringify({ older, newer })}`;
}

describe.skipIf(peer("buf") === undefined)("buf breaking", () => {
  test("buf and our rules agree on hand-made pairs, except for the difference that each pair shows", () => {
    const pairs = new Map<string, ProtoPair>();
    for (const [i, { name, older, newer, withoutLock }] of corpus.entries()) {
      const pair = pairOf({ older: readText(older), newer: readText(newer) }, `pair${i}.v1`, withoutLock);
      if (pair === undefined) throw new Error(`cannot print ${name} as .proto files`);
      pairs.set(`pair${i}.v1`, pair);
    }
    const theirs = bufFindings(pairs);
    const shown = [...pairs].map(([protoPackage, pair], i) => {
      const findings = [...ourFindings(pair), ...(theirs.get(protoPackage) ?? [])];
      const alone = oneSided(pair, findings);
      const unexplained = alone.filter((finding) => explanationsOf(finding).length !== 1).map(textOf);
      const shows = new Set(alone.flatMap(explanationsOf));
      if (shows.size === 0) shows.add(findings.length === 0 ? "same" : "broken");
      return { name: corpus[i]?.name, shows: [...shows], unexplained };
    });
    expect(shown).toEqual(corpus.map(({ name, shows }) => ({ name, shows: [shows].flat(), unexplained: [] })));
    const known = ["same", "broken", ...differences.map(({ name }) => name)];
    expect(new Set(shown.flatMap(({ shows }) => shows))).toEqual(new Set(known));
  });

  test("buf and our rules agree on random changes, except for explained differences", { timeout: 600_000 }, () => {
    const seed = cases(7, Math.floor(Math.random() * 2 ** 31));
    const count = { agreed: 0, explained: 0 };
    const numbers = randomNumbers(seed);
    const samples = fc.sample(randomSchema, { numRuns: cases(100, 2000), seed });
    for (let from = 0; from < samples.length; from += 100) {
      const pairs = new Map<string, ProtoPair>();
      for (const [i, older] of samples.slice(from, from + 100).entries()) {
        const newer = mutateSchema(older, numbers);
        if (!hasValues(newer)) continue;
        const pair = pairOf({ older, newer }, `pair${i}.v1`);
        if (pair !== undefined) pairs.set(`pair${i}.v1`, pair);
      }
      const theirs = bufFindings(pairs);
      const unexplained: string[] = [];
      for (const [protoPackage, pair] of pairs) {
        const findings = [...ourFindings(pair), ...(theirs.get(protoPackage) ?? [])];
        const alone = oneSided(pair, findings);
        if (alone.length === 0) count.agreed++;
        else count.explained++;
        unexplained.push(...alone.filter((finding) => explanationsOf(finding).length === 0).map(textOf));
      }
      expect({ seed, unexplained }).toEqual({ seed, unexplained: [] });
    }
    expect(count.agreed).toBeGreaterThan(5);
    expect(count.explained).toBeGreaterThan(5);
  });
});
