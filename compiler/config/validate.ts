/** Validates the export of a config file, with one error per mistake. */
import path from "node:path/posix";
import { describeValue } from "../../shared/text/describe-value.js";
import { type Artefact, type Config, ConfigError, type IgnoredBreak, type UserProtoConfig } from "./config.js";

const keys = ["schemas", "actors", "out", "lock", "emit", "importExtension", "proto", "break"];
const artefacts: readonly string[] = ["ts", "proto", "descriptor", "jsonschema", "capnp", "connect", "contract"];

/**
 * @param value the default export of the file
 * @param file the name of the file, for error texts
 * @throws ConfigError with all mistakes, one per line
 */
export function validateConfig(value: unknown, root: string, file: string): Config {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new ConfigError(
      `cannot use ${file}: it must export a config as default: export default defineConfig({ … }), got ${describeValue(value)}`,
    );
  }
  const given = value as Readonly<Record<string, unknown>>;
  const mistakes: string[] = [];
  for (const key of Object.keys(given)) {
    if (!keys.includes(key)) mistakes.push(`unknown key "${key}": expected one of ${keys.join(", ")}`);
  }
  const hasActors = typeof given["actors"] === "string" || Array.isArray(given["actors"]);
  const schemas = patterns(given["schemas"], "schemas", !hasActors, mistakes);
  const actors = patterns(given["actors"], "actors", false, mistakes);
  const config: Config = {
    root,
    file,
    schemas,
    actors: actors.filter((entry) => !isModule(entry)),
    actorPackages: actors.filter(isModule),
    out: folder(given["out"], "out", "generated", mistakes),
    lock: folder(given["lock"], "lock", "viceroy.lock", mistakes),
    emit: emitted(given["emit"], mistakes),
    ...importExtension(given["importExtension"], mistakes),
    proto: proto(given["proto"], mistakes),
    break: { ignore: ignored(given["break"], mistakes) },
  };
  if (mistakes.length > 0) {
    throw new ConfigError(mistakes.map((mistake) => `cannot use ${file}: ${mistake}`).join("\n"));
  }
  return config;
}

function patterns(value: unknown, key: string, required: boolean, mistakes: string[]): readonly string[] {
  if (value === undefined && !required) return [];
  const list = typeof value === "string" ? [value] : value;
  if (Array.isArray(list) && list.length > 0 && list.every((entry) => typeof entry === "string" && entry !== "")) {
    const outside = list.find((entry: string) => path.isAbsolute(entry) || path.normalize(entry).startsWith("../"));
    if (outside === undefined) return list.map((entry: string) => path.normalize(entry));
    mistakes.push(`invalid "${key}": expected patterns below the folder of the config, got "${outside}"`);
    return [];
  }
  mistakes.push(`invalid "${key}": expected a glob pattern or a list of them, got ${describeValue(value)}`);
  return [];
}

/** Returns whether an entry of `actors` is the specifier of a module. Otherwise, it is a pattern of files. */
function isModule(entry: string): boolean {
  return entry.startsWith("@") || !/[*?{}[\]!]|^\.|\.[cm]?[jt]sx?$/.test(entry);
}

function folder(value: unknown, key: string, byDefault: string, mistakes: string[]): string {
  if (value === undefined) return byDefault;
  if (typeof value === "string" && value !== "") {
    const normal = path.normalize(value).replace(/\/$/, "");
    if (normal !== "." && !path.isAbsolute(normal) && !normal.startsWith("..")) return normal;
  }
  mistakes.push(`invalid "${key}": expected a path below the folder of the config, got ${describeValue(value)}`);
  return byDefault;
}

function emitted(value: unknown, mistakes: string[]): readonly Artefact[] {
  if (value === undefined) return ["ts"];
  if (!Array.isArray(value)) {
    mistakes.push(`invalid "emit": expected a list of ${artefacts.join(", ")}, got ${describeValue(value)}`);
    return [];
  }
  for (const entry of value) {
    if (!artefacts.includes(entry)) {
      mistakes.push(`invalid "emit": expected ${artefacts.join(", ")}, got ${describeValue(entry)}`);
    }
  }
  if (value.includes("connect") && !value.includes("ts")) {
    mistakes.push(`invalid "emit": "connect" requires "ts", whose types and codecs its clients use`);
  }
  if (value.includes("contract") && !value.includes("ts")) {
    mistakes.push('invalid "emit": "contract" requires "ts", because other packages import the generated modules');
  }
  return [...new Set(value as readonly Artefact[])];
}

function importExtension(value: unknown, mistakes: string[]): Pick<Config, "importExtension"> {
  if (value === ".js" || value === ".ts") return { importExtension: value };
  if (value !== undefined) {
    mistakes.push(`invalid "importExtension": expected ".js" or ".ts", got ${describeValue(value)}`);
  }
  return {};
}

/** The package names that protobuf allows, without capital letters, which its style guide forbids. */
const packagePattern = /^[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)*$/;

function proto(value: unknown, mistakes: string[]): UserProtoConfig {
  if (value === undefined) return {};
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    mistakes.push(`invalid "proto": expected an object with "package", got ${describeValue(value)}`);
    return {};
  }
  for (const key of Object.keys(value)) {
    if (key !== "package") mistakes.push(`unknown key "proto.${key}": expected package`);
  }
  const { package: name } = value as { readonly package?: unknown };
  if (name === undefined) return {};
  if (typeof name === "string" && packagePattern.test(name)) return { package: name };
  mistakes.push(
    `invalid "proto.package": expected names in snake case separated by dots, such as acme.shop.v1, got ${describeValue(name)}`,
  );
  return {};
}

function ignored(value: unknown, mistakes: string[]): readonly IgnoredBreak[] {
  if (value === undefined) return [];
  const fail = (what: string, got: unknown): readonly IgnoredBreak[] => {
    mistakes.push(`invalid "break": expected ${what}, got ${describeValue(got)}`);
    return [];
  };
  if (typeof value !== "object" || value === null) return fail('an object with "ignore"', value);
  for (const key of Object.keys(value)) {
    if (key !== "ignore") mistakes.push(`unknown key "break.${key}": expected ignore`);
  }
  const { ignore } = value as { readonly ignore?: unknown };
  if (ignore === undefined) return [];
  if (!Array.isArray(ignore)) return fail("a list of { code, place, reason }", ignore);
  return ignore.flatMap((entry: unknown) => {
    const found = entry as Partial<IgnoredBreak> | null;
    const texts = [found?.code, found?.place, found?.reason];
    if (texts.every((text) => typeof text === "string" && text.trim() !== "")) return [found as IgnoredBreak];
    mistakes.push(
      `invalid "break": expected { code, place, reason }, all of them strings, got ${JSON.stringify(entry)}`,
    );
    return [];
  });
}
