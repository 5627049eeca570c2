/**
 * Writes the declarations of tensor operations, runtime/tensor/generated/ops.ts, from the operator schemas of the
 * newest supported version of PyTorch. `node --import tsx .ci/torches.mjs --declare` runs this script with the addon of
 * that version. Without `--write`, the script checks whether the declarations are up to date. It needs the addon, and
 * Biome for the format.
 *
 * tensor-since.txt contains the first version that has each overload. Its initial content comes from the
 * native_functions.yaml files of the wheels of all versions from 1.13 to 2.15. An overload that is not in the file is
 * new in the version with which the addon was built.
 */
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { addonFile } from "../native/addon-location.ts";
import { root } from "./steps.mjs";

const target = "runtime/tensor/generated/ops.ts";
const history = ".ci/tensor-since.txt";
/** The oldest version that the addon supports. Its operations are not marked with a version. */
const oldest = "1.13";

/** The types of operator schemas. Arguments of other types cannot be passed. */
const types = {
  Tensor: "Tensor",
  int: "Integer",
  SymInt: "Integer",
  float: "Real",
  bool: "boolean",
  Scalar: "Scalar",
  str: "string",
  ScalarType: "Dtype",
  Layout: "Layout",
  Device: "Device",
  MemoryFormat: "MemoryFormat",
};
const results = { ...types, int: "number", SymInt: "number", float: "number", Scalar: "number | bigint | boolean" };
/**
 * The operations that the class of tensors declares in another form, and those that need a storage, a stream or a file.
 */
const own = new Set(
  "backward data dispose dtype from_file grad item record_stream retain_grad set_ set_data shallow_copy_data_ shape requires_grad_".split(
    " ",
  ),
);
/** Matches overloads that name dimensions. Schemas print these names as text. */
const namedDimensions = /imname|^names/;
const forNames = new Set(
  "align_as align_tensors align_to names refine_names rename rename_ unflatten_dense_tensors".split(" "),
);

/** Matches operations for libraries of unsupported devices, and for tracing. */
const notForUsers = /^(cudnn|fbgemm|miopen|mps|sym)_/;

/** Splits at commas outside of brackets. */
function split(text) {
  const parts = [];
  let depth = 0;
  let part = "";
  for (const letter of text) {
    if ("([{".includes(letter)) depth++;
    if (")]}".includes(letter)) depth--;
    if (letter === "," && depth === 0) {
      parts.push(part.trim());
      part = "";
    } else part += letter;
  }
  return part.trim() === "" ? parts : [...parts, part.trim()];
}

/** Returns the TypeScript type of a schema's type such as `Tensor(a!)[]?`, or undefined if it is not supported. */
function typeOf(text, table) {
  const [, name, element, list, fixed, optional] =
    /^(\w+)(\?)?(\[(\d*)\])?(\?)?$/.exec(text.replace(/\([^)]*\)/g, "")) ?? [];
  const base = table[name];
  if (base === undefined) return undefined;
  const nullable = (type, is) => (is ? `${type} | null` : type);
  if (list === undefined) return nullable(base, element !== undefined);
  const many = `readonly ${element || base.includes("|") ? `(${nullable(base, element)})` : base}[]`;
  const oneOrMany = base === "Integer" ? "Integers" : `${base} | ${many}`;
  return nullable(table === types && fixed !== "" ? oneOrMany : many, optional !== undefined);
}

/** Parses a schema. Returns undefined for an operation that is not for users. */
function parse(schema) {
  const [, name, overload = "", inside, outside] = /^aten::(\w+)(?:\.(\w+))?\((.*)\) -> (.*)$/s.exec(schema) ?? [];
  if (name === undefined || name.startsWith("_") || own.has(name)) return undefined;
  if (namedDimensions.test(overload) || forNames.has(name) || notForUsers.test(name)) return undefined;
  let named = false;
  const parameters = [];
  for (const part of split(inside)) {
    if (part === "*") {
      named = true;
      continue;
    }
    const [, text, parameter, fallback] = /^(.+?) (\w+)(?:=(.*))?$/s.exec(part) ?? [];
    if (named && /\(\w+(\|\w+)*!/.test(text)) return undefined;
    const optional = fallback !== undefined;
    if (/^(Generator|Stream|Storage)/.test(text)) {
      if (optional) continue;
      return undefined;
    }
    const type = typeOf(text, types);
    if (type === undefined) return undefined;
    parameters.push({ name: parameter, type, optional, named });
  }
  const returns = (outside.startsWith("(") ? split(outside.slice(1, -1)) : [outside]).map((part) => {
    const [, text, result] = /^(\S+(?: \S+\))?)(?: (\w+))?$/s.exec(part) ?? [];
    return { type: typeOf(text.replace(/\([^)]*\)/g, ""), results)?.replace(/^readonly /, ""), name: result };
  });
  if (returns.some(({ type }) => type === undefined)) return undefined;
  return { name, overload, parameters, returns };
}

function resultOf(returns) {
  if (returns.length === 0) return "void";
  if (returns.length === 1) return returns[0].type;
  const names = returns.every(({ name }) => name !== undefined);
  return `[${returns.map(({ name, type }) => (names ? `${name}: ${type}` : type)).join(", ")}]`;
}

/** Words that cannot be names of parameters. */
const reserved = new Set(["in", "default", "function", "var", "with"]);
const safe = (name) => (reserved.has(name) ? `${name}_` : name);

/** Returns the signatures of an operation: with all arguments in order, or with the optional ones by name. */
function signatures({ parameters, returns }, method) {
  const given = method ? parameters.slice(1) : parameters;
  const ordered = given.filter(({ named }) => !named);
  const named = given.filter((parameter) => parameter.named);
  const required = ordered.slice(0, ordered.findLastIndex(({ optional }) => !optional) + 1);
  const rest = ordered.slice(required.length);
  const write = (positional, options) => {
    const fields = options.map(({ name, type, optional }) => `${name}${optional ? "?" : ""}: ${type}`);
    const must = options.some(({ optional }) => !optional);
    const list = positional.map(({ name, type, optional }, at) => {
      const last = positional.slice(at).every((parameter) => parameter.optional);
      return `${safe(name)}${optional && last ? "?" : ""}: ${type}`;
    });
    if (fields.length > 0) list.push(`options${must ? "" : "?"}: { ${fields.join("; ")} }`);
    return `(${list.join(", ")}): ${resultOf(returns)};`;
  };
  const must = named.some(({ optional }) => !optional);
  if (must) return [write(required, [...rest, ...named])];
  // The number of optional arguments that are passed in order: all, none, or the first, which is often passed alone,
  // like the bias of a convolution.
  const counts = new Set([rest.length, 0, ...(rest.length > 2 ? [1] : [])]);
  return [...counts].map((count) => write([...required, ...rest.slice(0, count)], [...rest.slice(count), ...named]));
}

const numbers = (version) => version.split(".").map(Number);

/** Returns whether one version is older than another. */
function isOlder(one, other) {
  const [major, minor] = numbers(one);
  const [otherMajor, otherMinor] = numbers(other);
  return major === otherMajor ? minor < otherMinor : major < otherMajor;
}

/** Returns the first versions of overloads by their names with a dot, as they are in tensor-since.txt. */
function readHistory() {
  const lines = readFileSync(path.join(root, history), "utf8").trimEnd().split("\n");
  return new Map(lines.map((line) => line.split(" ")));
}

const fullName = ({ name, overload }) => (overload === "" ? name : `${name}.${overload}`);

/** Returns the version of the oldest of several overloads. */
const firstOf = (ops) => ops.map(({ since }) => since).reduce((one, other) => (isOlder(other, one) ? other : one));

/** Returns the declarations of one function, each with the first version that has it. */
function declared(name, ways, method) {
  const sinces = new Map();
  for (const op of ways) {
    for (const signature of signatures(op, method)) {
      const known = sinces.get(signature);
      sinces.set(signature, known === undefined || isOlder(op.since, known) ? op.since : known);
    }
  }
  return [...sinces].flatMap(([signature, since]) => [
    ...(isOlder(oldest, since) ? [`  /** Since libtorch ${since}. */`] : []),
    `  ${name}${signature}`,
  ]);
}

function methodOf({ parameters }) {
  const [self] = parameters;
  return self !== undefined && !self.named && self.type === "Tensor" && self.name === "self";
}

function grouped(all, keyOf) {
  const groups = new Map();
  for (const one of all) groups.set(keyOf(one), [...(groups.get(keyOf(one)) ?? []), one]);
  return groups;
}

function render(operations) {
  const ops = grouped(operations, ({ name }) => name);
  const names = [...ops.keys()].sort();
  const part = (only, method) =>
    names.flatMap((name) => {
      const ways = ops.get(name).filter(only);
      return ways.length === 0 ? [] : declared(name, ways, method);
    });
  const methods = names.filter((name) => ops.get(name).some(methodOf));
  const newer = grouped(
    names.filter((name) => isOlder(oldest, firstOf(ops.get(name)))),
    (name) => firstOf(ops.get(name)),
  );
  const versions = [...newer.keys()].sort((one, other) => (isOlder(one, other) ? -1 : 1));
  return [
    `/** Operations of libtorch, by its schemas. Written by .ci/tensor-ops.mjs from libtorch ${newest}; edits are overwritten. */`,
    'import type { Device, Dtype, Integer, Integers, Layout, MemoryFormat, Real, Scalar } from "../argument-types.js";',
    "",
    "/** Operations as functions. The parameter is the class of tensors, which this file does not know. */",
    "export interface OperationFunctions<Tensor> {",
    ...part(() => true, false),
    "}",
    "",
    "/** Operations as methods of their first tensor. The parameter is the class of tensors. */",
    "export interface OperationMethods<Tensor> {",
    ...part(methodOf, true),
    "}",
    "",
    "/** Names of all functions, with spaces between them. */",
    `export const functionNames: string = ${JSON.stringify(names.join(" "))};`,
    "",
    "/** Names of those that are methods, too. */",
    `export const methodNames: string = ${JSON.stringify(methods.join(" "))};`,
    "",
    `/** Names of functions that libtorch ${oldest} lacks, by the version that they came with. */`,
    `export const newerFunctions = ${JSON.stringify(versions.map((version) => [version, newer.get(version).join(" ")]))} as const;`,
    "",
  ].join("\n");
}

/** The addon in its usual place, or the one that VICEROY_TENSOR_ADDON names. */
const addon = createRequire(import.meta.url)(process.env.VICEROY_TENSOR_ADDON || addonFile("tensor"));
const newest = numbers(addon.versions().torch).slice(0, 2).join(".");
const known = readHistory();
const operations = addon
  .allSchemas()
  .map(parse)
  .filter((op) => op !== undefined)
  .map((op) => ({ ...op, since: known.get(fullName(op)) ?? newest }));
const biome = path.join(root, "node_modules/@biomejs/biome/bin/biome");
const text = execFileSync(process.execPath, [biome, "format", `--stdin-file-path=${target}`], {
  cwd: root,
  input: render(operations),
  encoding: "utf8",
  maxBuffer: 1 << 26,
});
// An operation that a version has dropped is kept in the file, because it can return.
for (const op of operations) known.set(fullName(op), op.since);
const files = {
  [target]: text,
  [history]: `${[...known]
    .map((entry) => entry.join(" "))
    .sort()
    .join("\n")}\n`,
};
for (const [name, content] of Object.entries(files)) {
  const file = path.join(root, name);
  if (process.argv.includes("--write")) writeFileSync(file, content);
  else if (readFileSync(file, "utf8") !== content) {
    console.error(
      `${name} is not what the schemas of libtorch ${newest} say: run \`node --import tsx .ci/torches.mjs --declare\``,
    );
    process.exitCode = 1;
  }
}
