/** A task with all options at once: resources, a name, variables and packages. */
import { JobContext } from "viceroy/tasks";
import { expect, test } from "vitest";
import * as plain from "../../fixtures/tasks/plain.js";
import { makePackages } from "./local-packages.js";

const optionsOf = (cjs: string) => ({
  resources: { cpus: 2, memory: "2GiB" },
  name: "all at once",
  environment: { env: { OF_TASK: "yes" }, packageRequirements: [cjs] },
});

test("a task has its resources, its name, its variables and its packages at the same time", async () => {
  await using context = await JobContext.open({ procs: 2, resources: { cpus: 2, memory: "4GiB" } });
  const ref = context.with(optionsOf(makePackages("4.2.0").cjs)).run(plain.describeEnvironment, "tidy-cjs");
  expect(`${ref}`).toBe("ObjectRef all at once (pending)");
  expect(await context.get(ref)).toEqual({ ofTask: "yes", version: "cjs 4.2.0" });
  // Other tasks have none of it.
  await expect(context.get(context.run(plain.describeEnvironment, "tidy-cjs"))).rejects.toThrow("tidy-cjs");
});

test("a task on the event loop of the program is refused with variables and packages", async () => {
  await using context = await JobContext.open({
    procs: 2,
    isolation: "inline",
    resources: { cpus: 2, memory: "4GiB" },
  });
  const ref = context.with(optionsOf(makePackages("4.2.0").cjs)).run(plain.describeEnvironment, "tidy-cjs");
  await expect(context.get(ref)).rejects.toThrow(
    'cannot run all at once on host 0: it has an environment, and the isolation "inline" has only that of the program',
  );
});
