/** Tests that the owner of a large result frees it when processes that borrow it are killed. The hosts are real daemons. */
import { JobContext, type ObjectRef } from "viceroy/tasks";
import { expect, test } from "vitest";
import * as borrow from "../../fixtures/tasks/borrow.js";
import * as plain from "../../fixtures/tasks/plain.js";
import { attachPatiently } from "../../host/attach-patiently.js";
import { startHost } from "../../host/start-host.js";
import { gone, until } from "../../proc/until.js";

const large = 64 * 2 ** 20;

test("a large result lives while one process borrows it, also when another one is killed, and is freed when the last one is killed", async () => {
  const daemons = await Promise.all([startHost(), startHost()]);
  await using hosts = attachPatiently(daemons.map(({ address }) => address));
  await using context = await JobContext.open({ hosts, procs: 2, resources: { cpus: 2 } });
  const group = await context.placementGroup([{ cpus: 1 }, { cpus: 1 }, { cpus: 1 }], { strategy: "spread" });
  // Each environment has processes of its own.
  const runner = (bundle: number, role: string) =>
    context.with({ placement: group.slice({ bundles: bundle }), environment: { env: { ROLE: role } } });
  const [onOwner, onFirst, onSecond] = [runner(0, "owner"), runner(1, "first"), runner(2, "second")];
  const ownerUses = () => context.get(onOwner.run(plain.bytesInUse));

  const owner = await context.get(onOwner.run(borrow.whereAmI));
  const before = await ownerUses();
  const box: ObjectRef<{ ref: ObjectRef<Uint8Array> }> = onOwner.run(plain.makeLarge, large);
  const first = await context.get(onFirst.run(borrow.hold, box));
  const second = await context.get(onSecond.run(borrow.hold, box));
  expect([first.size, second.size]).toEqual([large, large]);
  expect(first.host).not.toBe(owner.host);
  expect(new Set([owner, first, second].map(({ pid }) => pid)).size).toBe(3);
  // The program has the bytes of the reference in the result of the task, which keep the result, too.
  box.release();

  process.kill(first.pid, "SIGKILL");
  await until(() => gone(first.pid));
  // The owner has been told of the end when another process of the same bundle answers.
  await context.get(onFirst.run(borrow.whereAmI));
  for (let i = 0; i < 5; i++) expect(await ownerUses()).toBeGreaterThan(before + large - 1);

  process.kill(second.pid, "SIGKILL");
  await until(async () => (await ownerUses()) < before + large / 2);
  // The owner itself has lived on.
  expect(await context.get(onOwner.run(borrow.whereAmI))).toEqual(owner);
});
