import { describe, expect, test, vi } from "vitest";
import type { ActorClass } from "../../../runtime/actor/reference/actor-request.js";
import { type ActorEntry, ActorRegistry } from "../../../runtime/proc/platform/actor-registry.js";
import type { ActorDescriptor } from "../../../runtime/wire/descriptor.js";

const counter = { key: "app/schemas/counter#Counter", fingerprint: 0xabcn } as unknown as ActorDescriptor;
const probe = { key: "app/schemas/probe#Probe", fingerprint: 1n } as unknown as ActorDescriptor;

function classOf(descriptor: ActorDescriptor, name: string): ActorClass {
  const made = { [name]: class {} }[name]!;
  return Object.assign(made, { descriptor }) as unknown as ActorClass;
}

const place = "file:///app/generated/registry.js";

function registryOf(actors: Record<string, ActorEntry>, schemas: Record<string, bigint> = { [counter.key]: 0xabcn }) {
  const registry = new ActorRegistry();
  registry.add(place, { package: "app", version: "0.1.0", schemas, actors });
  return registry;
}

describe("a class is found by its identity", () => {
  test("independently of its name, and among several classes of its schema", async () => {
    const [first, second] = [classOf(counter, "Same"), classOf(counter, "Same")];
    const registry = registryOf({
      "app/src/a#Same": { schema: counter.key, load: async () => first },
      "app/src/b#Same": { schema: counter.key, load: async () => second },
    });
    expect(await registry.resolve(second)).toEqual({ registry: place, id: "app/src/b#Same" });
    expect(registry.referenceOf(second)).toEqual({ registry: place, id: "app/src/b#Same" });
    expect(await registry.find({ registry: place, id: "app/src/a#Same" })).toBe(first);
  });

  test("if a bundler has put the registries of two packages into one file", async () => {
    const own = classOf(counter, "Own");
    const registry = registryOf({ "app/src/own#Own": { schema: counter.key, load: async () => own } });
    const other = classOf(probe, "Other");
    registry.add(place, {
      ...{ package: "tools", version: "0.1.0", schemas: { [probe.key]: 1n } },
      actors: { "tools/src/other#Other": { schema: probe.key, load: async () => other } },
    });
    expect(await registry.resolve(own)).toEqual({ registry: place, id: "app/src/own#Own" });
    expect(await registry.resolve(other)).toEqual({ registry: place, id: "tools/src/other#Other" });
    expect(await registry.find({ registry: place, id: "app/src/own#Own" })).toBe(own);
    expect(registry.registryUrls).toEqual([place]);
  });

  test("the module whose export has the name of the class is loaded first, and other modules are not loaded", async () => {
    const wanted = classOf(counter, "Wanted");
    const loaded: string[] = [];
    const entry = (id: string, value: ActorClass): ActorEntry => ({
      schema: counter.key,
      async load() {
        loaded.push(id);
        return value;
      },
    });
    const registry = registryOf({
      "app/src/a#Other": entry("a", classOf(counter, "Other")),
      "app/src/b#Wanted": entry("b", wanted),
    });
    await registry.resolve(wanted);
    expect(loaded).toEqual(["b"]);
  });

  test("a module is loaded once, and again after a failure", async () => {
    const wanted = classOf(counter, "Wanted");
    let loads = 0;
    const registry = registryOf({
      "app/src/a#Wanted": {
        schema: counter.key,
        async load() {
          if (++loads === 1) throw new Error("not yet");
          return wanted;
        },
      },
    });
    await expect(registry.resolve(wanted)).rejects.toThrow("not yet");
    await Promise.all([registry.resolve(wanted), registry.find({ registry: place, id: "app/src/a#Wanted" })]);
    expect(loads).toBe(2);
  });
});

describe("classes that cannot be spawned are refused with advice", () => {
  test("a value that is not an actor class", () => {
    const registry = registryOf({});
    const refusal = "cannot spawn an actor: expected a class that extends a generated actor, got";
    expect(() => registry.descriptorOf(undefined as unknown as ActorClass)).toThrow(`${refusal} undefined`);
    expect(() => registry.descriptorOf(class Plain {} as unknown as ActorClass)).toThrow(`${refusal} class Plain`);
  });

  test("a class whose schema is in no registry", () => {
    const text =
      'cannot spawn Real: not registered; export it from a module that viceroy.config.ts names under "actors", ' +
      "run `npx viceroy compile` and import the generated registry; a bundled program must be bundled again, got file:///app/generated/registry.js";
    expect(() => registryOf({}).descriptorOf(classOf(counter, "Real"))).toThrow(text);
  });

  test("a class that no module of its schema exports", async () => {
    const registry = registryOf({
      "app/src/a#Other": { schema: counter.key, load: async () => classOf(counter, "Other") },
    });
    const unknown = classOf(counter, "Unknown");
    expect(registry.descriptorOf(unknown)).toBe(counter);
    await expect(registry.resolve(unknown)).rejects.toThrow("cannot spawn Unknown: not registered;");
    // All modules are loaded now, so the class is refused at once.
    expect(() => registry.descriptorOf(unknown)).toThrow("cannot spawn Unknown: not registered;");
  });

  test("a class whose name and schema another class of a registry has, as after a module was copied", async () => {
    const registry = registryOf({
      "app/src/a#Twice": { schema: counter.key, load: async () => classOf(counter, "Twice") },
    });
    await expect(registry.resolve(classOf(counter, "Twice"))).rejects.toThrow(
      "cannot spawn Twice: app/src/a#Twice of file:///app/generated/registry.js is another class of this name, as when " +
        "a bundler has copied its module; bundle the program and the generated registry in one run with shared chunks",
    );
  });

  test("a class of a module in TypeScript that this version of Node.js does not run", async () => {
    const file = "/app/src/a.ts";
    const load = async () => {
      throw Object.assign(new TypeError(`Unknown file extension ".ts" for ${file}`), {
        code: "ERR_UNKNOWN_FILE_EXTENSION",
      });
    };
    const registry = registryOf({ "app/src/a#Real": { schema: counter.key, load } });
    await expect(registry.find({ registry: place, id: "app/src/a#Real" })).rejects.toThrow(
      `cannot load app/src/a#Real: Node.js ${process.version} does not run TypeScript; run all processes with Node.js ` +
        `22.18 or newer, install tsx, or compile the program, got ${file}`,
    );
  });

  test("a class of a module that spawns it during its own evaluation", async () => {
    vi.useFakeTimers();
    try {
      const registry = registryOf({ "app/src/main#Own": { schema: counter.key, load: () => new Promise(() => {}) } });
      const resolving = expect(registry.resolve(classOf(counter, "Own"))).rejects.toThrow(
        "cannot spawn Own: its module is still being loaded; a module cannot spawn the actors that it exports while " +
          "it is evaluated: move the class to a module of its own, got app/src/main",
      );
      await vi.advanceTimersByTimeAsync(10_000);
      await resolving;
    } finally {
      vi.useRealTimers();
    }
  });

  test("a generated module of another version than its registry", () => {
    const registry = registryOf(
      { "app/src/a#Real": { schema: counter.key, load: async () => classOf(counter, "Real") } },
      { [counter.key]: 0xdefn },
    );
    expect(() => registry.descriptorOf(classOf(counter, "Real"))).toThrow(
      "cannot use app/schemas/counter#Counter: its generated module and file:///app/generated/registry.js are of " +
        "different schemas; run `npx viceroy compile`, got fingerprints 0x0000000000000abc and 0x0000000000000def",
    );
  });

  test("a missing export, or an actor of another schema", async () => {
    for (const value of [undefined, classOf(probe, "Real")]) {
      const registry = registryOf({ "app/src/a#Real": { schema: counter.key, load: async () => value } });
      await expect(registry.find({ registry: place, id: "app/src/a#Real" })).rejects.toThrow(
        "cannot load app/src/a#Real: its module exports no actor of app/schemas/counter#Counter by that name; " +
          "run `npx viceroy compile`",
      );
    }
  });

  test("an id that the registry does not have", async () => {
    await expect(registryOf({}).find({ registry: place, id: "app/src/a#Real" })).rejects.toThrow(
      "cannot load app/src/a#Real: file:///app/generated/registry.js does not have it; run `npx viceroy compile`",
    );
  });
});
