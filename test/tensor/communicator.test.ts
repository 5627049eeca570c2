/** Connections between workers, and collective operations, with wrong information: an error, but no hang and no crash. */
import { closeSync, openSync } from "node:fs";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import type { Tensor } from "../../runtime/tensor/index.js";
import { addon } from "../../runtime/tensor/operation/addon.js";
import { describeTensors } from "./addon.js";
import { CommandBuilder } from "./command-builder.js";
import { WorkerGroup } from "./worker-group.js";

/** Builds a command that reduces tensor 1 into tensor 2. */
const reduce = ({ along = [0], ranks = 2, reduction = "sum" } = {}) =>
  new CommandBuilder()
    .site("here")
    .op("viceroy::all_reduce")
    .call(0)
    .reference(1)
    .integers(...along)
    .integer(ranks)
    .word(reduction)
    .results(2);
const values = (all: (Tensor | string)[]) => all.map((one) => (typeof one === "string" ? one : one.toArray()));

describeTensors("connections of a communicator", () => {
  test("let the workers of one process reduce tensors", async () => {
    using crew = new WorkerGroup();
    await crew.join();
    expect(values(await crew.run(() => reduce()))).toEqual([
      [3, 4],
      [3, 4],
    ]);
  });

  test("that were not joined fail a collective operation", async () => {
    using crew = new WorkerGroup();
    const why = "viceroy::all_reduce failed: the processes of the mesh are not connected to each other";
    expect(values(await crew.run(() => reduce()))).toEqual([why, why]);
  });

  const offers: [string, (crew: WorkerGroup) => object, string][] = [
    ["a foreign token", ({ ends }) => ({ ...ends[1], token: new Uint8Array(16) }), "belongs to another communicator"],
    [
      "a token that is too short",
      ({ ends }) => ({ ...ends[1], token: new Uint8Array(3) }),
      "belongs to another communicator",
    ],
    ["a missing descriptor", ({ ends }) => ({ ...ends[1], memory: 99_999 }), "No such file or directory"],
    ["a missing process", ({ ends }) => ({ ...ends[1], pid: 4_194_305 }), "No such file or directory"],
    ["an address without a listener", () => new Uint8Array(8), "this process does not listen for other machines"],
  ];
  test.each(offers)("refuse %s", async (_, offer, why) => {
    using crew = new WorkerGroup();
    const end = offer(crew) as WorkerGroup["ends"][number];
    await expect(addon().connectCommunicator(crew.streams[0]!, [2], [crew.ends[0]!, end], false)).rejects.toThrow(
      new RegExp(`^cannot reach the other processes of the mesh: .*${why}`),
    );
  });

  test("refuse a file that could shrink as shared memory", async () => {
    using crew = new WorkerGroup();
    const memory = openSync(fileURLToPath(import.meta.url), "r");
    const end = { ...crew.ends[1]!, memory };
    await expect(addon().connectCommunicator(crew.streams[0]!, [2], [crew.ends[0]!, end], false)).rejects.toThrow(
      "cannot",
    );
    closeSync(memory);
  });

  test("are offered once, for the right number of processes, on a known device", async () => {
    using crew = new WorkerGroup();
    const [stream] = crew.streams;
    expect(() => addon().offerCommunicator(stream!, 0, 2)).toThrow(
      "cannot create a communicator: the stream has one already",
    );
    expect(() => addon().connectCommunicator(stream!, [3], crew.ends, false)).toThrow(
      "expected one for each process of the mesh",
    );
    expect(() => addon().connectCommunicator(stream!, [2], [crew.ends[0]!], false)).toThrow(
      "expected one for each process of the mesh",
    );
    expect(() => addon().connectCommunicator(stream!, [2], [crew.ends[0]!, 7 as never], false)).toThrow(
      "expected an object or a Uint8Array",
    );
    for (const name of ["gpu", "cuda:x", "cuda:1234"]) {
      expect(() => addon().newStream(0, 1, false, name, 0)).toThrow(
        `cannot hold tensors on ${name}: unknown device "${name}": expected "cpu", "cuda", or "cuda:" and a number`,
      );
    }
    const alone = addon().newStream(0, 1, false, "cpu", 0);
    expect(() => addon().connectCommunicator(alone, [1], crew.ends, false)).toThrow(
      "expected a stream with a communicator",
    );
    expect(() => addon().offerCommunicator(alone, 2, 2)).toThrow(
      "invalid rank: expected less than the number of ranks, which is at most 65536",
    );
    addon().closeStream(alone);
  });

  test("that one worker has left fail the operations of the others", async () => {
    using crew = new WorkerGroup(3);
    await crew.join();
    addon().closeStream(crew.streams[2]!);
    const again = new CommandBuilder().call(0).reference(1).integers(0).integer(3).word("sum").results(2);
    const all = values(await crew.run(() => reduce({ ranks: 3 })));
    for (const one of all.slice(0, 2)) {
      expect(one).toMatch(/^viceroy::all_reduce failed: rank (2 has left the mesh|[01] has lost another process)$/);
    }
    // A worker that has failed once stays out of step.
    await Promise.all(
      crew.streams.slice(0, 2).map((stream) => addon().submitCommands(stream, new CommandBuilder().drop(1, 2).done())),
    );
    expect(values(await crew.run(() => again))[0]).toMatch("viceroy::all_reduce failed: rank");
  });

  test("stop waiting when their worker is closed", async () => {
    using crew = new WorkerGroup();
    await crew.join();
    const [waiting] = crew.streams;
    await addon().submitCommands(waiting!, new CommandBuilder().put(1, 1).done());
    const done = addon().submitCommands(waiting!, reduce().done());
    const fetched = addon().fetchTensor(waiting!, 2);
    const ends = Promise.allSettled([done, fetched]);
    // This is long enough for the operation to begin.
    await setTimeout(50);
    addon().closeStream(waiting!);
    expect(await ends).toMatchObject([
      {},
      { reason: { message: "cannot fetch a tensor: the stream has been closed" } },
    ]);
  });
});

describeTensors("a collective operation", () => {
  test("fails on all processes if they execute different operations", async () => {
    using crew = new WorkerGroup();
    await crew.join();
    const why = "viceroy::all_reduce failed: the processes of its group execute different operations";
    const all = await crew.run((rank) => reduce({ reduction: rank === 0 ? "sum" : "max" }));
    expect(values(all)).toEqual([why, why]);
  });

  const wrong: [string, CommandBuilder, string][] = [
    ["of a missing dimension", reduce({ along: [1] }), "the mesh has no such dimensions"],
    ["of a negative dimension", reduce({ along: [-1] }), "the mesh has no such dimensions"],
    ["of one dimension twice", reduce({ along: [0, 0] }), "the mesh has no such dimensions"],
    [
      "for another number of processes",
      reduce({ ranks: 3 }),
      "its group has another number of processes than the controller expects",
    ],
    ["for no processes", reduce({ ranks: 0 }), "its group has another number of processes than the controller expects"],
    ["by an unknown reduction", reduce({ reduction: "x" }), 'unknown reduction "x"'],
  ];
  test.each(wrong)("%s fails", async (_, commands, why) => {
    using crew = new WorkerGroup();
    await crew.join();
    for (const one of values(await crew.run(() => commands))) expect(one).toMatch(`viceroy::all_reduce failed: ${why}`);
    // The workers are still in step.
    await Promise.all(
      crew.streams.map((stream) => addon().submitCommands(stream, new CommandBuilder().drop(1, 2).done())),
    );
    const again = new CommandBuilder().call(0).reference(1).integers(0).integer(2).word("max").results(2);
    expect(values(await crew.run(() => again))).toEqual([
      [2, 2],
      [2, 2],
    ]);
  });

  test("to missing ranks, or to one rank twice, fails", async () => {
    for (const [to, why] of [
      [[1, 1], "process 1 would be sent more than one tensor"],
      [[1, 2], "there is no process 2 among 2"],
      [[-2, 0], "there is no process -2 among 2"],
      [[1], "it says where to for 1 of 2 processes"],
    ] as const) {
      using crew = new WorkerGroup();
      await crew.join();
      const permute = new CommandBuilder()
        .site("here")
        .op("viceroy::permute")
        .call(0)
        .reference(1)
        .integers(0)
        .integer(2);
      for (const one of values(
        await crew.run(() =>
          permute
            .copy()
            .integers(...to)
            .results(2),
        ),
      )) {
        expect(one).toBe(`viceroy::permute failed: ${why}`);
      }
    }
  });
});
