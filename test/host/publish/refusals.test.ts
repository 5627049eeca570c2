/** Tests of what `publish` and `lookup` refuse, with the texts of the errors. */
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { lookup, type PropagatedEndpoint, publish, TimeoutError, thisHost } from "viceroy";
import { afterEach, beforeAll, expect, test } from "vitest";
import { compileProject } from "../../proc/crew.js";
import { collectUnhandledFaults } from "../../proc/unhandled-faults.js";
import { attachPatiently } from "../attach-patiently.js";
import { startHost } from "../start-host.js";
import { loadProject, project, startPublisher } from "./programs.js";
import type { IndexMesh } from "./project/generated/index.js";

let known: Awaited<ReturnType<typeof loadProject>>;
collectUnhandledFaults();
beforeAll(async () => {
  known = await loadProject();
});

const copies: string[] = [];
afterEach(() => {
  for (const copy of copies.splice(0)) rmSync(copy, { recursive: true, force: true });
});

/** Makes a copy of the project with another schema and another actor. */
async function otherProject(edits: Readonly<Record<string, readonly [from: string, to: string][]>>): Promise<string> {
  const copy = mkdtempSync(join(project, "../other-"));
  copies.push(copy);
  cpSync(project, copy, { recursive: true });
  for (const [file, changes] of Object.entries(edits)) {
    let text = readFileSync(join(copy, file), "utf8");
    for (const [from, to] of changes) {
      if (!text.includes(from)) throw new Error(`${file} has no ${from}`);
      text = text.replaceAll(from, to);
    }
    writeFileSync(join(copy, file), text);
  }
  await compileProject(copy);
  return copy;
}

test("without an attached host there is nothing to publish on and to look up on", async () => {
  await using procs = thisHost().spawnProcs({ shards: 1 });
  const shelves = procs.spawn("shelves", known.WordIndex);
  const why = "this process has attached no host; call attachHosts or hostsFromConfig first";
  await expect(publish("index", shelves)).rejects.toThrow(`cannot publish "index": ${why}`);
  await expect(lookup("index")).rejects.toThrow(`cannot look up "index": ${why}`);
  await using _ = attachPatiently(["unix:///no/such/host"], { timeout: 100 });
  await expect(lookup("index")).rejects.toThrow("cannot attach host unix:///no/such/host: ");
});

test("names, meshes and options of a wrong kind are refused", async () => {
  const host = await startHost();
  await using _ = attachPatiently([host.address]);
  await using procs = thisHost().spawnProcs({ shards: 2 });
  const shelves = procs.spawn("shelves", known.WordIndex);
  const long = "é".repeat(128);
  await expect(publish("", shelves)).rejects.toThrow(
    'cannot publish a mesh: expected a name of 1 to 255 bytes of UTF-8, got ""',
  );
  await expect(publish(long, shelves)).rejects.toThrow(
    "cannot publish a mesh: expected a name of 1 to 255 bytes of UTF-8, got 256 bytes",
  );
  await expect(publish(7 as never, shelves)).rejects.toThrow("cannot publish a mesh: expected a name, got 7");
  await expect(lookup("")).rejects.toThrow('cannot look up a mesh: expected a name of 1 to 255 bytes of UTF-8, got ""');
  await expect(publish("index", procs as never)).rejects.toThrow(
    'cannot publish "index": expected a mesh of actors, got ',
  );
  await expect(publish("index", shelves.slice({ shards: 1 }))).rejects.toThrow(
    'cannot publish "index": shelves{} is a slice of mesh "shelves"; publish the whole mesh, and slice it where it is looked up',
  );
  await expect(lookup("index", { timeout: -1 })).rejects.toThrow(
    'cannot look up "index": expected timeout in milliseconds, 0 to 2147483647, got -1',
  );
  await expect(lookup("index", { timeout: "1s" as never })).rejects.toThrow(
    'cannot look up "index": expected timeout in milliseconds, got "1s"',
  );
  await expect(lookup("index", { wait: 1 } as never)).rejects.toThrow('cannot look up "index"');
  await shelves.stop({ reason: "done" });
  await expect(publish("index", shelves)).rejects.toThrow('cannot publish "index": mesh "shelves" was stopped: done');
});

test("a mesh of another program cannot be published again", async () => {
  const host = await startHost();
  const publisher = await startPublisher([host]);
  await using _ = attachPatiently([host.address]);
  await publisher.order("publish", "index", "shelves");
  await expect(publish("copy", await lookup("index"))).rejects.toThrow(
    'cannot publish "copy": another process has spawned mesh "index"; publish it in that process',
  );
});

test("a name that is taken is refused on all hosts, and names that exist are listed", async () => {
  const [one, two] = await Promise.all([startHost(), startHost()]);
  const [first, second] = await Promise.all([startPublisher([one]), startPublisher([two, one])]);
  await first.order("publish", "index", "shelves");
  await expect(first.order("publish", "index", "nests")).rejects.toThrow(
    `cannot publish "index" on host ${one.address}: this program has published a mesh by this name already; ` +
      "take another name, or withdraw that mesh first",
  );
  await expect(second.order("publish", "index", "shelves")).rejects.toThrow(
    `cannot publish "index" on host ${one.address}: process ${first.child.pid} on ${hostname()} has published a mesh by ` +
      "this name already; take another name, or withdraw that mesh first",
  );
  await first.order("publish", "nests", "nests");
  await using hosts = attachPatiently([one.address, two.address]);
  await hosts.ready;
  const where = `on hosts ${one.address}, ${two.address}`;
  await expect(lookup("indices")).rejects.toThrow(
    `cannot look up "indices": no program has published a mesh by this name ${where}; published are "index", "nests"`,
  );
  const late = await lookup("indices", { timeout: 100 }).catch((error) => error);
  expect(late).toBeInstanceOf(TimeoutError);
  expect(late.message).toBe(
    `cannot look up "indices": no program has published a mesh by this name ${where} within 100 ms`,
  );
  const third = await startPublisher([two]);
  await third.order("publish", "index", "shelves");
  await expect(lookup("index")).rejects.toThrow(
    `cannot look up "index": two programs have published a mesh by this name: process ${first.child.pid} on ` +
      `${hostname()} at host ${one.address}, and process ${third.child.pid} on ${hostname()} at host ${two.address}`,
  );
});

test("with a timeout, lookup waits until the mesh is published on any of the hosts", async () => {
  const [one, two] = await Promise.all([startHost(), startHost()]);
  const publisher = await startPublisher([two]);
  await using _ = attachPatiently([one.address, two.address]);
  const waiting = lookup<IndexMesh<"shards">>("index", { timeout: 60_000 });
  await expect(lookup("index")).rejects.toThrow("nothing is");
  await publisher.order("publish", "index", "shelves");
  expect([...(await (await waiting).square.call(2)).values()]).toEqual([4, 4, 4]);
  expect(await lookup("index")).toMatchObject({ extent: { shards: 3 } });
});

test("programs whose schemas differ understand each other where the rules of schemas allow it", async () => {
  const newer = await otherProject({
    "schemas/index.ts": [
      ["  count: Uint32;\n}", "  count: Uint32;\n  language?: string;\n}"],
      ["exit(code: Uint32): void;", "exit(code: Uint32): void;\n  cube(n: Uint32): Uint32;"],
    ],
    "src/word-index.ts": [["exit(code: number)", "cube(n: number) {\n    return n ** 3;\n  }\n  exit(code: number)"]],
  });
  const host = await startHost();
  const publisher = await startPublisher([host], newer);
  await using _ = attachPatiently([host.address]);
  await publisher.order("publish", "index", "shelves");
  const index = await lookup<IndexMesh<"shards">>("index");
  expect([...(await index.add.call("tea")).values()]).toEqual([1, 1, 1]);
  for await (const [, entry] of index.slice({ shards: 0 }).words.stream(1)) {
    expect(entry).toEqual({ word: "word1", count: 1 });
    break;
  }
});

test("lookup takes the interface from a generated class, and refuses other classes and meshes", async () => {
  const { GuestActor, IndexActor } = await import("./project/generated/index.js");
  const host = await startHost();
  const publisher = await startPublisher([host]);
  await using _ = attachPatiently([host.address]);
  await publisher.order("publish", "index", "shelves");
  const index: IndexMesh = await lookup("index", IndexActor);
  expect([...(await index.square.call(2)).values()]).toEqual([4, 4, 4]);
  const shards = await lookup<IndexMesh<"shards">>("index", known.WordIndex, { timeout: 60_000 });
  // @ts-expect-error The mesh has no such dimension.
  expect(() => shards.slice({ gpus: 0 })).toThrow("gpus");
  expect(await shards.slice({ shards: 1 }).square.callOne(3)).toBe(9);
  await expect(lookup("index", GuestActor)).rejects.toThrow(
    'cannot look up "index": expected a mesh of viceroy/schemas/index#Guest, got a mesh of viceroy/schemas/index#Index',
  );
  await expect(lookup("index", Date as never)).rejects.toThrow(
    'cannot look up "index": expected a generated class such as IndexActor, got class Date',
  );
  await expect(lookup("index", IndexActor, { timeout: -1 })).rejects.toThrow("expected timeout in milliseconds");
});

test("endpoints with tensors are refused, and so is rref", async () => {
  const tensors = await otherProject({
    "schemas/index.ts": [
      [
        "import type { Actor, Mesh, Port, Stream, Uint32 }",
        "import type { Actor, Mesh, Port, Stream, Tensor, Uint32 }",
      ],
      ["exit(code: Uint32): void;", "exit(code: Uint32): void;\n  /** @propagate */\n  embed(word: string): Tensor;"],
    ],
    "src/word-index.ts": [
      ["exit(code: number)", 'embed(): never {\n    throw new Error("has no tensors");\n  }\n  exit(code: number)'],
    ],
  });
  const host = await startHost();
  const publisher = await startPublisher([host], tensors);
  await using _ = attachPatiently([host.address]);
  await publisher.order("publish", "index", "shelves");
  const { IndexActor } = await import(join(tensors, "generated/index.ts"));
  const index = (await lookup("index", IndexActor)) as never as Record<"embed" | "square", PropagatedEndpoint>;
  await expect(index.embed.call("tea")).rejects.toMatchObject({
    remoteName: "TypeError",
    message:
      "cannot call Index.embed of another program: its result can contain a Tensor at result; handles have a meaning in one program only",
  });
  expect(() => index.embed.rref("tea")).toThrow(
    "cannot rref index.embed: the processes of its actors are no mesh that is active; " +
      "activate the mesh of processes that they were spawned on, and call all of them",
  );
  expect([...(await index.square.call(2)).values()]).toEqual([4, 4, 4]);
});

test("an endpoint that the publisher does not have is refused by its name", async () => {
  const older = await otherProject({
    "schemas/index.ts": [["  keep(bytes: Uint8Array): Uint32;\n", ""]],
    "src/word-index.ts": [
      ["  keep(bytes: Uint8Array): number {\n    this.#kept++;\n    return bytes.length;\n  }\n", ""],
    ],
  });
  const host = await startHost();
  const publisher = await startPublisher([host], older);
  await using _ = attachPatiently([host.address]);
  await publisher.order("publish", "index", "shelves");
  const index = await lookup<IndexMesh<"shards">>("index");
  expect([...(await index.square.call(2)).values()]).toEqual([4, 4, 4]);
  await expect(index.keep.call(new Uint8Array(1))).rejects.toThrow(
    /^cannot call shelves\.keep: the mesh has no endpoint \d+ "keep", because the program that has published it has another schema of viceroy\/schemas\/index#Index$/,
  );
});

test("incompatible schemas are refused with their differences", async () => {
  const other = await otherProject({
    "schemas/index.ts": [["square(n: Uint32): Uint32;", "square(n: string): Uint32;"]],
    "src/word-index.ts": [
      ["square(n: number): number {\n    return n * n;", "square(n: string): number {\n    return n.length;"],
    ],
  });
  const host = await startHost();
  const publisher = await startPublisher([host], other);
  await using _ = attachPatiently([host.address]);
  await publisher.order("publish", "index", "shelves");
  const error: Error = await lookup("index").catch((thrown) => thrown);
  expect(error.message).toMatch(
    new RegExp(
      `^cannot look up "index": process ${publisher.child.pid} on .* has another schema of viceroy/schemas/index#Index, and the two ` +
        `cannot be read by each other \\(was: there, is: here\\):\\n  .*square`,
      "i",
    ),
  );
});
