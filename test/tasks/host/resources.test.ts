/** Tests of amounts of resources: the texts of errors, and how amounts are counted. */

import { describe, expect, test } from "vitest";
import { amountsOf, checkResources, formatAmounts, resourcesOf } from "../../../runtime/tasks/host/resources.js";
import { formatBytes } from "../../../shared/text/format-bytes.js";

const failed = "cannot run task square";

describe("resources", () => {
  test("are returned as numbers, with memory in bytes", () => {
    expect(checkResources({ cpus: 0.5, gpus: 2, memory: "1.5GiB", licenses: 3, none: undefined }, failed)).toEqual({
      ...{ cpus: 0.5, gpus: 2, memory: 1.5 * 2 ** 30, licenses: 3 },
    });
    const sizes = {
      "512": 512,
      "512B": 512,
      "1KB": 1000,
      "2 MiB": 2 ** 21,
      "3GB": 3e9,
      "1TiB": 2 ** 40,
      "4K": 4000,
      "5Gi": 5 * 2 ** 30,
    };
    for (const [memory, bytes] of Object.entries(sizes))
      expect(checkResources({ memory }, failed)).toEqual({ memory: bytes });
  });

  test.each([
    [{ cpus: -1 }, RangeError, `${failed}: expected an amount of cpus from 0 to 900719925474, got -1`],
    [{ tokens: Number.NaN }, RangeError, `${failed}: expected an amount of tokens from 0 to 900719925474, got NaN`],
    [
      { memory: Infinity },
      RangeError,
      `${failed}: expected an amount of memory from 0 to 2^53 - 1 bytes, got Infinity`,
    ],
    [
      { memory: 2 ** 53 },
      RangeError,
      `${failed}: expected an amount of memory from 0 to 2^53 - 1 bytes, got 9007199254740992`,
    ],
    [{ gpus: 1.5 }, RangeError, `${failed}: expected a whole number of gpus, or a fraction below 1, got 1.5`],
    [
      { memory: "3 pounds" },
      TypeError,
      `${failed}: expected memory in bytes, or with the unit B, KB, MB, GB, TB, KiB, MiB, GiB or TiB, got "3 pounds"`,
    ],
    [{ cpus: "2" as never }, TypeError, `${failed}: expected a number as the amount of cpus, got "2"`],
    [{ cpus: 1n as never }, TypeError, `${failed}: expected a number as the amount of cpus, got 1n`],
    [null as never, TypeError, `${failed}: expected resources as an object, got null`],
    [[1] as never, TypeError, `${failed}: expected resources as an object, got an array of 1`],
  ])("%o are refused", (resources, type, text) => {
    let thrown: unknown;
    try {
      checkResources(resources, failed);
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toBeInstanceOf(type);
    expect((thrown as Error).message).toBe(text);
  });
});

describe("amounts", () => {
  test("are whole ten-thousandths, and bytes", () => {
    expect(amountsOf({ cpus: 0.57, gpus: 1, memory: 10.5, none: 0 })).toEqual(
      new Map(Object.entries({ cpus: 5700, gpus: 10_000, memory: 11 })),
    );
  });

  test("fit into a whole as often as their fractions do", () => {
    for (let parts = 1; parts <= 100; parts++) {
      const units = amountsOf({ gpus: 1 / parts }).get("gpus")!;
      expect(units * parts).toBeLessThanOrEqual(10_000);
      expect(units * (parts + 1)).toBeGreaterThan(10_000 - parts);
    }
    expect(amountsOf({ cpus: 1e-9 }).get("cpus")).toBe(1);
  });

  test("are texts and numbers again", () => {
    expect(formatAmounts(amountsOf({ cpus: 2, gpus: 0.25, memory: 1.5 * 2 ** 30 }))).toBe(
      "2 cpus, 0.25 gpus, 1.5 GiB of memory",
    );
    expect(formatAmounts(amountsOf({ cpus: 0 }))).toBe("nothing");
    expect([900, 2048, 3.25 * 2 ** 20, 1000 * 2 ** 20].map(formatBytes)).toEqual([
      "900 bytes",
      "2 KiB",
      "3.25 MiB",
      "1000 MiB",
    ]);
    expect(resourcesOf(amountsOf({ cpus: 0.1, memory: 5 }))).toEqual({ cpus: 0.1, memory: 5 });
  });
});
