/** The files that `viceroy init` writes: a counter, its implementation, a program, and their settings. */

export const ignoredPaths: readonly string[] = ["node_modules/", ".viceroy/"];

const config = `import { defineConfig } from "viceroy/compiler";

export default defineConfig({
  schemas: "schemas/**/*.ts",
  actors: "src/**/*.ts",
  out: "generated",
  lock: "viceroy.lock",
  emit: ["ts"],
});
`;

const tsconfig = `{
  "compilerOptions": {
    "target": "es2022",
    "lib": ["es2023", "esnext.disposable"],
    "module": "nodenext",
    "types": ["node"],
    "strict": true,
    "skipLibCheck": true,
    "rootDir": ".",
    "outDir": "build"
  },
  "include": ["src", "schemas", "generated"]
}
`;

const schema = `import type { Actor, Int32, Stream } from "viceroy/schema";

/** Counts. */
export interface Counter extends Actor<[initial: Int32]> {
  increment(by?: Int32): void;
  value(): Int32;
  /** Yields the value \`count\` times. */
  watch(count: Int32): Stream<Int32>;
}
`;

const actor = `import { CounterActor } from "../generated/counter.js";

export class MemoryCounter extends CounterActor {
  #value: number;

  constructor(initial: number) {
    super();
    this.#value = initial;
  }

  increment(by = 1) {
    this.#value += by;
  }

  value() {
    return this.#value;
  }

  async *watch(count: number) {
    for (let i = 0; i < count; i++) yield this.#value;
  }
}
`;

const main = `import { thisHost } from "viceroy";
import "../generated/registry.js";
import { MemoryCounter } from "./memory-counter.js";

const procs = thisHost().spawnProcs({ gpus: 4 });
const counters = procs.spawn("counters", MemoryCounter, 3);

counters.increment.broadcast(1);
const values = await counters.value.call();
console.log([...values.values()]);
console.log(await counters.slice({ gpus: 0 }).value.callOne());
for await (const [point, value] of counters.watch.stream(2)) console.log(point.toString(), value);

await procs.stop();
`;

export const templates: readonly { readonly path: string; readonly text: string }[] = [
  { path: "viceroy.config.ts", text: config },
  { path: "tsconfig.json", text: tsconfig },
  { path: "schemas/counter.ts", text: schema },
  { path: "src/memory-counter.ts", text: actor },
  { path: "src/main.ts", text: main },
];
