/** Tests of the checks of runtime environments. */
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { RuntimeEnv, runtimeEnvOf } from "../../../runtime/tasks/environment/index.js";

/** Passes what the types refuse. */
const make = (options: unknown) => () => new RuntimeEnv(options as never);

describe("a runtime environment", () => {
  test("is accepted if it is valid", () => {
    const { env, packageRequirements, minimumResources, maximumResources } = new RuntimeEnv({
      env: { ONE: "1", TWO: "2" },
      packageRequirements: ["zod@4", "@scope/tools"],
      minimumResources: { cpus: 1, memory: 2 ** 30 },
      maximumResources: { cpus: 1, memory: 2 ** 31 },
    });
    expect([env, packageRequirements]).toEqual([{ ONE: "1", TWO: "2" }, ["zod@4", "@scope/tools"]]);
    expect([minimumResources, maximumResources]).toEqual([
      { cpus: 1, memory: 2 ** 30 },
      { cpus: 1, memory: 2 ** 31 },
    ]);
  });

  test("is empty by default", () => {
    expect({ ...new RuntimeEnv() }).toEqual({
      env: {},
      workingDirectory: undefined,
      packages: undefined,
      packageRequirements: [],
      minimumResources: {},
      maximumResources: {},
    });
  });

  test("does not have a minimum of a resource that exceeds its maximum", () => {
    const wrong = make({ minimumResources: { cpus: 4 }, maximumResources: { cpus: 2 } });
    expect(wrong).toThrow(/minimum_resources.*exceeds.*maximum_resources/);
    expect(wrong).toThrow(
      new RangeError(
        "cannot make a RuntimeEnv: minimum_resources exceeds maximum_resources: expected minimumResources.cpus to be at " +
          "most maximumResources.cpus, which is 2, got 4",
      ),
    );
  });

  test.each(["minimumResources", "maximumResources"])(
    "has amounts of %s that are finite and not negative",
    (option) => {
      const wrong = (amount: unknown) => make({ [option]: { gpus: amount } });
      expect(wrong(-1)).toThrow(new RangeError(`cannot make a RuntimeEnv: ${option}.gpus cannot be negative, got -1`));
      expect(wrong(Number.POSITIVE_INFINITY)).toThrow(
        new RangeError(`cannot make a RuntimeEnv: expected ${option}.gpus to be finite, got Infinity`),
      );
      expect(wrong(Number.NaN)).toThrow(
        new TypeError(`cannot make a RuntimeEnv: expected ${option}.gpus as a number, got NaN`),
      );
      expect(wrong("2")).toThrow(
        new TypeError(`cannot make a RuntimeEnv: expected ${option}.gpus as a number, got "2"`),
      );
      expect(make({ [option]: ["cpus"] })).toThrow(
        new TypeError(`cannot make a RuntimeEnv: expected ${option} as an object like { cpus: 2 }, got an array of 1`),
      );
    },
  );

  test("has requirements that are strings with content", () => {
    expect(make({ packageRequirements: ["zod", ""] })).toThrow(
      new RangeError('cannot make a RuntimeEnv: packageRequirements cannot contain empty strings, got ""'),
    );
    expect(make({ packageRequirements: ["zod", "  "] })).toThrow(/cannot contain empty strings/);
    expect(make({ packageRequirements: [4] })).toThrow(
      new TypeError("cannot make a RuntimeEnv: packageRequirements must be strings, got 4"),
    );
    expect(make({ packageRequirements: "zod" })).toThrow(
      new TypeError('cannot make a RuntimeEnv: packageRequirements must be strings in a list, got "zod"'),
    );
    expect(make({ packageRequirements: ["--registry=http://localhost"] })).toThrow(
      new TypeError(
        'cannot make a RuntimeEnv: expected packageRequirements as packages, got "--registry=http://localhost"',
      ),
    );
  });

  test("has environment variables whose names and values are strings", () => {
    expect(make({ env: new Map<unknown, string>([[1, "one"]]) })).toThrow(
      new TypeError("cannot make a RuntimeEnv: env keys must be strings, got 1"),
    );
    expect(make({ env: { ONE: 1 } })).toThrow(
      new TypeError("cannot make a RuntimeEnv: env values must be strings, got 1 for ONE"),
    );
    expect(make({ env: "ONE=1" })).toThrow(
      new TypeError('cannot make a RuntimeEnv: expected env as an object or a Map of strings, got "ONE=1"'),
    );
    expect(make({ env: { "ONE;rm": "1" } })).toThrow(
      new TypeError("cannot make a RuntimeEnv: expected env with names of letters, digits and _, got an object"),
    );
    expect(new RuntimeEnv({ env: new Map([["ONE", "1"]]) }).env).toEqual({ ONE: "1" });
  });

  test("has absolute paths, so that it means the same in another folder", () => {
    const { workingDirectory, packages, packageRequirements } = new RuntimeEnv({
      workingDirectory: "workers",
      packages: { lock: "workers/package-lock.json" },
      packageRequirements: ["./a-1.0.0.tgz", "b-1.0.0.tgz", "file:c", "zod@4", "https://example.com/d.tgz", "ann/e"],
    });
    const here = process.cwd();
    expect(workingDirectory).toBe(join(here, "workers"));
    expect(packages).toEqual({ lock: join(here, "workers/package-lock.json") });
    expect(packageRequirements).toEqual([
      `file:${here}/a-1.0.0.tgz`,
      `file:${here}/b-1.0.0.tgz`,
      `file:${here}/c`,
      "zod@4",
      "https://example.com/d.tgz",
      "ann/e",
    ]);
  });

  test("names what is wrong with other options", () => {
    expect(make({ pip: ["torch"] })).toThrow(
      new TypeError(
        "cannot make a RuntimeEnv: expected one of the options env, workingDirectory, packages, packageRequirements, " +
          'minimumResources, maximumResources, got "pip"',
      ),
    );
    expect(make({ workingDirectory: "" })).toThrow(
      new TypeError('cannot make a RuntimeEnv: expected workingDirectory as a path, got ""'),
    );
    expect(make({ packages: {} })).toThrow(
      new TypeError("cannot make a RuntimeEnv: expected packages.lock as a path, got undefined"),
    );
    expect(make({ packages: { lock: "a", scripts: true } })).toThrow(
      new TypeError('cannot make a RuntimeEnv with packages: expected the option lock, got "scripts"'),
    );
  });

  test("is made of options where it is asked for", () => {
    const environment = new RuntimeEnv({ env: { A: "1" } });
    expect(runtimeEnvOf(environment)).toBe(environment);
    expect(runtimeEnvOf({ env: { A: "1" } })).toEqual(environment);
    expect(() => runtimeEnvOf({ env: { A: 1 } } as never)).toThrow(/env values must be strings/);
  });
});
