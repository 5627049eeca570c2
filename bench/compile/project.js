/**
 * Generates the project for bench:compile: `count` interfaces of 14 fields, 20 in each file, that refer to each other across files; one actor
 * in each file; 200 files of user code; and equivalent .proto files for buf. Pure.
 */
const perFile = 20;
const userFiles = 200;

/**
 * @param {number} count
 * @returns {Map<string, string>} path -> text
 */
export function project(count) {
  const schemaFiles = count / perFile;
  const files = new Map([
    ["package.json", `{ "name": "bench-compile", "version": "0.0.0", "private": true, "type": "module" }\n`],
    ["viceroy.config.ts", config],
  ]);
  for (let file = 0; file < schemaFiles; file++) {
    files.set(`schemas/part-${file}.ts`, schema(file));
    files.set(`proto/part_${file}.proto`, proto(file));
  }
  for (let i = 0; i < userFiles; i++)
    files.set(`src/module-${i}.ts`, i < schemaFiles ? implementation(i) : plainModule(i));
  return files;
}

const config = `import { defineConfig } from "viceroy/compiler";

export default defineConfig({ schemas: "schemas/**/*.ts", actors: "src/**/*.ts", out: "generated", lock: "viceroy.lock" });
`;

const entitiesOf = (file) => Array.from({ length: perFile }, (_, i) => file * perFile + i);
const fileOf = (entity) => Math.floor(entity / perFile);
/** Every third entity refers to one of the previous file (.proto files cannot import each other), the others to a neighbour. */
function referredBy(entity) {
  if (entity % 3 === 0 && entity >= perFile) return entity - perFile;
  return fileOf(entity) * perFile + ((entity + 1) % perFile);
}

function importedBy(file) {
  const referred = entitiesOf(file).map((entity) => referredBy(entity));
  return [...new Set(referred.filter((entity) => fileOf(entity) !== file))];
}

function schema(file) {
  const imports = importedBy(file).map(
    (entity) => `import type { Entity${entity} } from "./part-${fileOf(entity)}.js";`,
  );
  const first = file * perFile;
  return `import type { Actor, Int32, Uint32 } from "viceroy/schema";
${imports.join("\n")}

${entitiesOf(file)
  .map((entity) => entityInterface(entity, referredBy(entity)))
  .join("\n")}
/** Keeps the entities of part ${file}. */
export interface Store${file} extends Actor<[capacity: Uint32]> {
  put(entity: Entity${first}): void;
  get(id: Uint32): Entity${first};
  list(prefix: string, limit?: Int32): Entity${first + 1}[];
}
`;
}

const entityInterface = (entity, next) => `/** Entity number ${entity}. */
export interface Entity${entity} {
  /** Unique in its store. */
  id: Uint32;
  name: string;
  score: number;
  active: boolean;
  kind: "alpha" | "beta" | "gamma";
  tags: string[];
  points: { x: number; y: number; label: string; weight: number }[];
  attributes: Map<string, string>;
  payload: Uint8Array;
  next?: Entity${next};
}
`;

function proto(file) {
  const imports = [...new Set(importedBy(file).map(fileOf))].map((part) => `import "part_${part}.proto";`);
  const first = file * perFile;
  return `syntax = "proto3";
package bench;
${imports.join("\n")}

${entitiesOf(file)
  .map((entity) => entityMessage(entity, referredBy(entity)))
  .join("\n")}
message Store${file}GetRequest {
  uint32 id = 1;
}
message Store${file}ListRequest {
  string prefix = 1;
  optional int32 limit = 2;
}
message Store${file}ListResponse {
  repeated Entity${first + 1} entities = 1;
}
message Store${file}PutResponse {}
// Keeps the entities of part ${file}.
service Store${file} {
  rpc Put(Entity${first}) returns (Store${file}PutResponse);
  rpc Get(Store${file}GetRequest) returns (Entity${first});
  rpc List(Store${file}ListRequest) returns (Store${file}ListResponse);
}
`;
}

const entityMessage = (entity, next) => `// Entity number ${entity}.
message Entity${entity} {
  enum Kind {
    KIND_ALPHA = 0;
    KIND_BETA = 1;
    KIND_GAMMA = 2;
  }
  message Point {
    double x = 1;
    double y = 2;
    string label = 3;
    double weight = 4;
  }
  // Unique in its store.
  uint32 id = 1;
  string name = 2;
  double score = 3;
  bool active = 4;
  Kind kind = 5;
  repeated string tags = 6;
  repeated Point points = 7;
  map<string, string> attributes = 8;
  bytes payload = 9;
  optional Entity${next} next = 10;
}
`;

function implementation(file) {
  const first = `Entity${file * perFile}`;
  const second = `Entity${file * perFile + 1}`;
  return `import type { ${first}, ${second} } from "../generated/part-${file}.js";
import { Store${file}Actor } from "../generated/part-${file}.js";

export class MemoryStore${file} extends Store${file}Actor {
  readonly #entities = new Map<number, ${first}>();

  constructor(readonly capacity: number) {
    super();
  }

  put(entity: ${first}): void {
    this.#entities.set(entity.id, entity);
  }

  get(id: number): ${first} {
    return this.#entities.get(id)!;
  }

  list(_prefix: string, _limit = 10): ${second}[] {
    return [];
  }
}
`;
}

const plainModule = (i) => `import { readFile } from "node:fs/promises";
${i > 0 && i % 7 !== 0 ? `import type { Row${i - 1} } from "./module-${i - 1}.js";\n\nexport type Previous = Row${i - 1};\n` : ""}
export interface Row${i} {
  readonly key: string;
  readonly values: readonly number[];
}

/** Reads rows of "key,1,2,3". */
export async function readRows${i}(path: string): Promise<Row${i}[]> {
  const text = await readFile(path, "utf8");
  return text.split("\\n").map((line) => {
    const [key = "", ...values] = line.split(",");
    return { key, values: values.map(Number) };
  });
}

export class Table${i} {
  readonly #rows = new Map<string, Row${i}>();

  add(row: Row${i}): this {
    this.#rows.set(row.key, row);
    return this;
  }

  total(): number {
    let total = 0;
    for (const { values } of this.#rows.values()) for (const value of values) total += value;
    return total;
  }
}
`;
