/** Checks rolling upgrades with two real builds of a package, both of which answer during the replacement. */
import { renameSync, rmSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { beforeAll, expect, test } from "vitest";
import { Builds } from "./builds.js";

let builds: Builds;
beforeAll(() => {
  builds = new Builds("old", "new", "broken");
});

test.each(["old", "new"])("all ranks answer a driver of the %s build while ranks are replaced", async (driver) => {
  const { code, stdout, stderr } = await builds.run(
    driver,
    "rolling.ts",
    builds.registry("old"),
    builds.registry("new"),
  );
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  const { before, after, problems, done } = JSON.parse(stdout) as Record<string, unknown>;
  expect(problems).toEqual([]);
  const [old, next] = ["old alpha 3", "new alpha 3 no colour"];
  expect(before).toEqual([old, next, old, next]);
  expect(after).toEqual([next, next, next, next]);
  for (const count of Object.values(done as object)) expect(count).toBeGreaterThan(3);
});

const apart = (who: string) =>
  `${who} has another schema of weather/schemas/station#Station, and the two cannot be read by each other ` +
  "(was: there, is: here):\n  VC5001 field-type-changed at weather.v1.Reading.value: its type was string and is double: neither side " +
  "finds the other's value, which has another wire type";

test("a build with an incompatible schema is refused with its differences, and its rank can be replaced", async () => {
  const { code, stdout, stderr } = await builds.run(
    "old",
    "refused.ts",
    builds.registry("new"),
    builds.registry("broken"),
  );
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  const refused = apart("the process of stations[2]");
  expect(JSON.parse(stdout)).toEqual({
    all: `cannot call stations.build on rank 2: the actor stations[2] has failed: SpawnError: ${refused}`,
    ready: `mesh "stations" is not ready: rank 2 failed: ${refused}`,
    first: "old alpha 3",
    second: "new alpha 3 no colour",
    third: `cannot call stations.build on rank 0 (stations[2]): the actor stations[2] has failed: SpawnError: ${refused}`,
    calibrate: "resolved with no such endpoint",
    replace: `cannot replace rank 1 of mesh "procs": ${apart("the process of stations[1]")}`,
    missing: expect.stringMatching(
      /^cannot replace rank 1 of mesh "procs": Cannot find module '\/nowhere\/registry\.js' imported from /,
    ),
    still: "new alpha 3 no colour",
    repaired: "resolved with undefined",
    healed: ["old alpha 3", "new alpha 3 no colour", "new alpha 3 no colour"],
    told: ["stations 2 spawn"],
  });
});

test("a build that lacks the actor or has moved it is refused, and the old processes keep working", async () => {
  builds.derive("lacking", "new", (folder) => rmSync(path.join(folder, "src/real-station.ts")));
  builds.derive("moved", "new", (folder) =>
    renameSync(path.join(folder, "src/real-station.ts"), path.join(folder, "src/station.ts")),
  );
  const [lacking, moved] = ["lacking", "moved"].map((name) => builds.registry(name));
  const { code, stdout, stderr } = await builds.run("old", "lacking.ts", lacking!, moved!);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  const what = (registry: string) =>
    `cannot load weather/src/real-station#RealStation: ${pathToFileURL(registry)} does not have it`;
  const without = `${what(lacking!)}; run \`npx viceroy compile\`, or keep the actor until no process runs a build that spawns it`;
  expect(JSON.parse(stdout)).toEqual({
    refused: [
      `cannot replace rank 0 of mesh "procs": ${without}`,
      `cannot replace rank 0 of mesh "procs": ${what(moved!)}, but has weather/src/station#RealStation; ` +
        "keep the old path of a module that was moved until all processes were replaced",
    ],
    spawned: `mesh "elsewhere" is not ready: rank 0 failed: ${without}`,
    still: ["old alpha 3", "old alpha 3"],
    faults: 1,
  });
});

test("a call to an endpoint that an old process lacks fails with the name of the endpoint", async () => {
  const { stdout } = await builds.run("new", "refused.ts", builds.registry("old"), builds.registry("broken"));
  const { calibrate, second } = JSON.parse(stdout) as Record<string, string>;
  expect(second).toBe("old alpha 3");
  expect(calibrate).toBe(
    'cannot call stations.calibrate on rank 0 (stations[1]): the actor stations[1] has no endpoint 8 "calibrate": its process has ' +
      "another schema of weather/schemas/station#Station",
  );
});

test.each(["process", "thread"])("a %s that has loaded a registry itself runs its build", async (isolation) => {
  const { code, stdout, stderr } = await builds.run("old", "own.ts", isolation, builds.registry("new"));
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  const next = "new beta undefined no colour";
  expect(JSON.parse(stdout)).toEqual([
    [next, next],
    [next, next],
  ]);
});

test("values of a newer process pass through older ones unchanged by call, port, stream, cast and spawn", async () => {
  const { code, stdout, stderr } = await builds.run("new", "relay.ts", builds.registry("old"));
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(JSON.parse(stdout)).toEqual({ byCall: 30, byPort: 30, byStream: 30, byCast: 30, bySpawn: 12 });
});
