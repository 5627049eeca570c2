/**
 * Checks that the runtime describes codecs as the compiler lowers the schema: everything that decides about the wire,
 * and the names of members. Names of messages are compared where the schema gives them.
 */
import path from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import type { ArtefactInput } from "../../../compiler/emit/artefact.js";
import { type ActorDescriptor, type Codec, GeneratedCodec } from "../../../runtime/wire/index.js";
import { describeActor, describeCodecs } from "../../../runtime/wire/protobuf/describe-schema.js";
import { cases } from "../../profile.js";
import { loadModules } from "../../wire/load-generated.js";
import { cases as artefactCases, inputOfCase } from "../emit/proto/cases.js";
import { goldenCases, goldenInput, inputOf, schemasIn } from "../emit/proto/lowered.js";
import { randomCodecs } from "../emit/random-codecs.js";
import { SchemaComparison } from "./same-schema.js";

test("the runtime describes codecs of random schemas as the compiler lowers them", () => {
  let count = 0;
  for (const { lowered, codecs } of randomCodecs(cases(150), 31, 0)) {
    for (const { codec, message } of codecs) count += compareCodec(codec, message, lowered.schema);
  }
  expect(count).toBeGreaterThan(cases(150) * 5);
});

const conformance = fileURLToPath(new URL("../../fixtures/conformance/schemas/", import.meta.url));

const inputs: readonly (readonly [string, () => ArtefactInput])[] = [
  ...goldenCases.map((name) => [path.join("golden", name), () => goldenInput(name)] as const),
  ...artefactCases.map((name) => [path.join("artefacts", name), () => inputOfCase(name)] as const),
  ["conformance", () => inputOf(schemasIn(conformance))],
];

test.each(inputs)("the runtime describes codecs and actors of %s as the compiler lowers them", async (_, read) => {
  const { schema, lowered } = read();
  let count = 0;
  for (const [file, exported] of await loadModules(schema, { enumNames: () => lowered.enumNames })) {
    const declared = schema.modules.find((module) => `/${module.path.slice("schemas/".length)}` === file);
    for (const [name, value] of Object.entries(exported)) {
      if (value instanceof GeneratedCodec) {
        const type = declared?.types.find((candidate) => `${candidate.name}Codec` === name);
        const origin = [...lowered.origins].find(
          ([full, { place, at }]) => lowered.schema.messages.has(full) && place === type?.name && at === type.at,
        );
        if (origin !== undefined) count += compareCodec(value, origin[0], lowered.schema);
      } else if (isDescriptor(value)) count += compareActor(value, lowered);
    }
  }
  expect(count).toBeGreaterThan(0);
});

function isDescriptor(value: unknown): value is ActorDescriptor {
  return typeof value === "object" && value !== null && "service" in value && "endpoints" in value;
}

type Lowered = ArtefactInput["lowered"];

function compareCodec(codec: Codec<unknown>, message: string, lowered: Lowered["schema"]): number {
  const described = describeCodecs([codec]);
  const [root = ""] = described.messages.keys();
  return new SchemaComparison(described, lowered).messages(root, message).count;
}

function compareActor(descriptor: ActorDescriptor, { schema, constructors }: Lowered): number {
  const described = describeActor(descriptor);
  const { service } = descriptor;
  const messages = new Map([...schema.messages, [`${service}.constructor`, constructors.get(service)!]]);
  const comparison = new SchemaComparison(described, { ...schema, messages });
  comparison.messages(`${service}.constructor`, `${service}.constructor`);
  const mine = described.services.get(service);
  const theirs = schema.services.get(service);
  const withoutMessages = (methods = theirs?.methods) => methods?.map(({ request: _, response: __, ...rest }) => rest);
  expect({ ...mine, methods: withoutMessages(mine?.methods) }).toEqual({ ...theirs, methods: withoutMessages() });
  for (const [i, method] of (mine?.methods ?? []).entries()) {
    comparison.messages(method.request, theirs?.methods[i]?.request ?? "");
    comparison.messages(method.response, theirs?.methods[i]?.response ?? "");
  }
  return comparison.count;
}
