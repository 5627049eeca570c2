/** Tests of programs that share several hosts: when the host that passes messages on is gone, another one does so. */
import { lookup, SupervisionError } from "viceroy";
import { beforeAll, expect, test } from "vitest";
import { collectUnhandledFaults } from "../../proc/unhandled-faults.js";
import { until } from "../../proc/until.js";
import { attachPatiently, lossSilence } from "../attach-patiently.js";
import { type RunningHost, startHost } from "../start-host.js";
import { loadProject, startPublisher } from "./programs.js";
import type { IndexMesh } from "./project/generated/index.js";

const faults = collectUnhandledFaults();
beforeAll(async () => {
  await loadProject();
});

type Shards = IndexMesh<"shards">;

/** Starts hosts that this program and the publisher attach, and looks up a mesh through the first one. */
async function exchange(...listen: (string | undefined)[]) {
  const hosts = await Promise.all(listen.map((each) => startHost(each)));
  const publisher = await startPublisher(hosts, undefined, { VICEROY_TEST_SILENCE: `${lossSilence()}` });
  const attached = attachPatiently(
    hosts.map(({ address }) => address),
    { silence: lossSilence() },
  );
  await attached.ready;
  await publisher.order("publish", "index", "shelves");
  return { hosts, publisher, attached, index: await lookup<Shards>("index") };
}

const settle = (call: PromiseLike<unknown>) =>
  Promise.resolve(call).then(
    (value) => ({ value, error: undefined }),
    (error: Error) => ({ value: undefined, error }),
  );

const lostText = (from: RunningHost, to: RunningHost) =>
  `host ${from.address} is gone: [^]*, while the call was under way; it may have been handled, so it was not sent again; ` +
  `later calls go through host ${to.address}$`;

test.each([
  [undefined, undefined],
  ["tcp://127.0.0.1:0", "tcp://127.0.0.1:0"],
])(
  "when the daemon that passes messages on gets SIGKILL, everything that was not handled is sent through another host, once and in order (%s)",
  async (...listen) => {
    const { hosts, attached, index } = await exchange(...listen);
    await using _ = attached;
    const one = index.slice({ shards: 1 });
    const calls: ReturnType<typeof settle>[] = [];
    const messages = 6000;
    for (let n = 1; n <= messages; n++) {
      if (n % 2 === 0) calls.push(settle(one.confirm.callOne("B", n)));
      else await one.note.broadcast("B", n);
      if (n === messages / 2) hosts[0]!.child.kill("SIGKILL");
    }
    const outcomes = await Promise.all(calls);
    const handled = await one.numbers.callOne("B");
    expect(handled).toEqual([...new Set(handled)].sort((a, b) => a - b));
    const failed = new Set<number>();
    for (const [i, { value, error }] of outcomes.entries()) {
      const number = 2 * (i + 1);
      if (error === undefined) expect(value).toBe(number);
      else {
        failed.add(number);
        expect(error).toBeInstanceOf(SupervisionError);
        expect(error.message).toMatch(
          new RegExp(`^cannot call index\\.confirm on rank 0 \\(index\\[1\\]\\): ${lostText(hosts[0]!, hosts[1]!)}`),
        );
      }
    }
    // Calls whose answers are lost may have been cancelled before they were handled. Nothing else may be missing.
    const missing = Array.from({ length: messages }, (_, i) => i + 1).filter((n) => !handled.includes(n));
    expect(missing.filter((n) => !failed.has(n))).toEqual([]);
    expect(failed.size).toBeLessThan(messages / 2);
    expect(faults).toEqual([]);
  },
);

test("a call and a stream that were handled when the host was killed fail with the reason, and later ones go on", async () => {
  const { hosts, attached, index } = await exchange(undefined, undefined);
  await using _ = attached;
  const one = index.slice({ shards: 0 });
  const call = settle(one.sleep.callOne(3_600_000));
  const stream = one.words.stream(1);
  await stream.next();
  await one.square.callOne(1);
  hosts[0]!.child.kill("SIGKILL");
  const { error } = await call;
  expect(error).toBeInstanceOf(SupervisionError);
  expect(error?.message).toMatch(new RegExp(`^cannot call index\\.sleep on rank 0: ${lostText(hosts[0]!, hosts[1]!)}`));
  const streamed = await settle(
    (async () => {
      for await (const _ of stream);
    })(),
  );
  expect(streamed.error?.message).toMatch(new RegExp(lostText(hosts[0]!, hosts[1]!)));
  await until(async () => (await one.interruptions.callOne()).length === 1);
  expect([...(await index.square.call(3)).values()]).toEqual([9, 9, 9]);
  for await (const [, { count }] of one.words.stream(7)) {
    expect(count).toBe(7);
    break;
  }
  expect(faults).toEqual([]);
});

test("calls of idempotent endpoints with retry, and map, do not notice that the host is gone", async () => {
  const { hosts, attached, index } = await exchange(undefined, undefined);
  await using _ = attached;
  const squares: number[] = [];
  const items = Array.from({ length: 3000 }, (_, i) => i);
  const calls = items.map((n) =>
    index
      .slice({ shards: n % 3 })
      .square.with({ retry: 5 })
      .callOne(n),
  );
  for await (const [n, square] of index.square.map(items)) {
    if (n === 500) hosts[0]!.child.kill("SIGKILL");
    squares.push(square);
  }
  expect(squares).toEqual(items.map((n) => n * n));
  expect(await Promise.all(calls)).toEqual(squares);
});

test("when the publisher leaves the host, another host passes the messages on", async () => {
  const { hosts, publisher, attached, index } = await exchange(undefined, undefined, undefined);
  await using _ = attached;
  const call = settle(index.slice({ shards: 2 }).sleep.callOne(3_600_000));
  await index.square.call(1);
  await publisher.order("leave", "0");
  const { error } = await call;
  expect(error?.message).toMatch(
    new RegExp(
      `which had published "index", has ended or has left the host, while .* go through host ${hosts[1]!.address}$`,
    ),
  );
  expect([...(await index.square.call(3)).values()]).toEqual([9, 9, 9]);
  await publisher.order("leave", "2");
  expect([...(await index.square.call(4)).values()]).toEqual([16, 16, 16]);
  hosts[1]!.child.kill("SIGKILL");
  const last = await settle(index.sleep.call(3_600_000));
  expect(last.error).toBeInstanceOf(SupervisionError);
  expect(last.error?.message).toContain(`host ${hosts[1]!.address} is gone: `);
  expect((await settle(index.square.call(1))).error).toBeInstanceOf(SupervisionError);
  expect(faults).toEqual([]);
});

test("a rank that is being restarted while the host is replaced answers again", async () => {
  const { hosts, publisher, attached } = await exchange(undefined, undefined);
  await using _ = attached;
  await publisher.order("publish", "nests", "nests");
  const one = (await lookup<Shards>("nests")).slice({ shards: 1 });
  expect(await one.add.callOne("egg")).toBe(1);
  await settle(one.exit.callOne(7));
  hosts[0]!.child.kill("SIGKILL");
  expect(await one.add.with({ wait: true }).callOne("egg")).toBe(1);
  expect(faults).toEqual([]);
});

test("when the publisher gets SIGKILL, calls reject although the hosts live", async () => {
  const { publisher, attached, index } = await exchange(undefined, undefined);
  await using _ = attached;
  const call = settle(index.sleep.call(3_600_000));
  await index.square.call(1);
  publisher.child.kill("SIGKILL");
  expect((await call).error).toBeInstanceOf(SupervisionError);
  expect((await call).error?.message).toContain('which had published "index", has ended or has left the host');
  await expect(lookup("index")).rejects.toThrow("nothing is");
  expect(faults).toEqual([]);
});
