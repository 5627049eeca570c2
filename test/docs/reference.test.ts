/** Checks that the pages of options and errors list everything that the declarations of the built package export. */
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { type ExportedDeclarations, Node, Project } from "ts-morph";
import { describe, expect, test } from "vitest";
import { root } from "../examples/program.js";

const modules = {
  viceroy: "runtime/index.d.ts",
  "viceroy/rdma": "runtime/rdma/index.d.ts",
  "viceroy/tensor": "runtime/tensor/index.d.ts",
  "viceroy/tasks": "runtime/tasks/index.d.ts",
  "viceroy/gateway": "runtime/gateway/index.d.ts",
  "viceroy/connect/v1": "runtime/connect/index.d.ts",
  "viceroy/testing": "runtime/testing/index.d.ts",
  "viceroy/capnp/v1": "runtime/capnp/index.d.ts",
};

const project = new Project({ compilerOptions: { strict: true }, skipAddingFilesFromTsConfig: true });

describe.each(Object.entries(modules))("exports of %s", (_module, file) => {
  const source = project.addSourceFileAtPath(path.join(root, "dist/types", file));
  const exported = [...source.getExportedDeclarations()].map(([name, [declaration]]) => ({ name, declaration }));

  test("the page of options lists every option", () => {
    const text = readFileSync(path.join(root, "docs/reference/options.md"), "utf8");
    // An entry such as `retry.attempts` lists both names.
    const listed = new Set([...text.matchAll(/`(\w+(?:\.\w+)*)`/g)].flatMap(([, name]) => name!.split(".")));
    const missing = exported.flatMap(({ name, declaration }) =>
      // Options of errors are for the code that constructs them.
      (/Options$/.test(name) && !/ErrorOptions$/.test(name)) || ["ReadLimits", "Region", "TlsFiles"].includes(name)
        ? propertiesOf(declaration)
            .filter((property) => !listed.has(property))
            .map((property) => `${name}.${property}`)
        : [],
    );
    expect(missing).toEqual([]);
  });

  test("the page of errors lists every class, code, reason and kind", () => {
    const text = readFileSync(path.join(root, "docs/reference/errors.md"), "utf8");
    const classes = exported.filter(({ declaration }) => isError(declaration)).map(({ name }) => name);
    const codes = exported
      .filter(({ name }) => /(?:ErrorCode|DeliveryReason|FailureKind)$/.test(name))
      .flatMap(({ declaration }) => literalsOf(declaration));
    expect([...classes, ...codes].filter((name) => !text.includes(`\`${name}\``))).toEqual([]);
  });
});

/** The sources whose errors are plain ones, so that only their messages tell them apart. */
const plainErrors = [
  ...[
    "wire/imported-codec.ts",
    "wire/descriptor.ts",
    "proc/platform/actor-registry.ts",
    "proc/platform/actor-registry-errors.ts",
  ],
  ...["proc/platform/import-error.ts"],
  ...readdirSync(path.join(root, "runtime/host/publish")).map((name) => `host/publish/${name}`),
];

test("the page of errors lists every message about other packages and published meshes", () => {
  const page = readFileSync(path.join(root, "docs/reference/errors.md"), "utf8");
  const listed = [...page.matchAll(/`(cannot [^`]+)`/g)].map(([, text = ""]) => text.replace(/\s*…$/, ""));
  const missing = plainErrors.flatMap((name) => {
    const source = readFileSync(path.join(root, "runtime", name), "utf8");
    const messages = [...source.matchAll(/Error\(\s*`(cannot (?:\\.|[^`\\])+)`/g)].map(([, text = ""]) =>
      withGaps(text),
    );
    // A message without words of its own passes a reason on.
    const worded = messages.filter((text) => !/^cannot …: [… ]+$/.test(text));
    return worded.filter((text) => !listed.some((known) => text.startsWith(known))).map((text) => `${name}: ${text}`);
  });
  expect(missing).toEqual([]);
});

/** Replaces the expressions in a template by the sign that the page has for them. */
function withGaps(template: string): string {
  let text = template;
  while (/\$\{[^{}]*\}/.test(text)) text = text.replaceAll(/\$\{[^{}]*\}/g, "…");
  return text;
}

test("the helpers of this test recognise error classes and error codes in declarations", () => {
  const source = project.getSourceFileOrThrow(path.join(root, "dist/types", modules["viceroy/rdma"]));
  const exported = source.getExportedDeclarations();
  expect(isError(exported.get("RdmaError")?.[0])).toBe(true);
  expect(literalsOf(exported.get("RdmaErrorCode")?.[0])).toContain("ERR_RDMA_STALE");
});

/** Returns the names of the properties of an interface, inherited ones included. */
function propertiesOf(declaration: ExportedDeclarations | undefined): readonly string[] {
  return (
    declaration
      ?.getType()
      .getProperties()
      .map((property) => property.getName()) ?? []
  );
}

/** Returns whether a declaration is a class of errors: instances have a stack. */
function isError(declaration: ExportedDeclarations | undefined): boolean {
  return Node.isClassDeclaration(declaration) && declaration.getType().getProperty("stack") !== undefined;
}

/** Returns the texts of a union of literals. The values of newer schemas are not listed. */
function literalsOf(declaration: ExportedDeclarations | undefined): readonly string[] {
  const type = declaration?.getType();
  const members = type?.isUnion() ? type.getUnionTypes() : type === undefined ? [] : [type];
  return members.filter((member) => member.isLiteral()).map((member) => String(member.getLiteralValue()));
}
