/** The option `objects` of `JobContext.open`, with values that people and programs get wrong. */
import { tmpdir } from "node:os";
import { JobContext } from "viceroy/tasks";
import { expect, test } from "vitest";

const isShared = process.env["VICEROY_LINKS"] === "memory";

test.each([
  [5, TypeError, "expected objects to be an object, got 5"],
  [null, TypeError, "expected objects to be an object, got null"],
  [{ memroy: 1 }, TypeError, "memroy"],
  [{ memory: -1 }, RangeError, "expected objects.memory in bytes, an integer from 0, got -1"],
  [{ memory: 1.5 }, RangeError, "expected objects.memory in bytes, an integer from 0, got 1.5"],
  [{ memory: Number.NaN }, RangeError, "expected objects.memory in bytes, an integer from 0, got NaN"],
  [{ memory: 2 ** 60 }, RangeError, "expected objects.memory in bytes"],
  [{ memory: "1 GiB" }, TypeError, 'expected objects.memory in bytes, an integer from 0, got "1 GiB"'],
  [{ disk: Number.POSITIVE_INFINITY }, RangeError, "expected objects.disk in bytes, an integer from 0, got Infinity"],
  [{ disk: 10n }, TypeError, "expected objects.disk in bytes"],
  [{ folder: "relative" }, TypeError, 'expected objects.folder to be an absolute path, got "relative"'],
  [{ folder: "" }, TypeError, "expected objects.folder to be an absolute path"],
  [{ folder: "/tmp\0" }, TypeError, "expected objects.folder to be an absolute path"],
  [{ folder: new URL("file:///tmp") }, TypeError, "expected objects.folder to be an absolute path"],
  [{ whenFull: "block" }, TypeError, 'expected objects.whenFull "wait" or "fail", got "block"'],
])("the value %o of objects is refused", async (objects, type, message) => {
  const opened = JobContext.open({ procs: 1, objects: objects as never });
  await expect(opened).rejects.toThrow(type);
  await expect(opened).rejects.toThrow(message);
});

test.runIf(isShared)("a folder that does not exist, or is none, is refused", async () => {
  const open = (folder: string) => JobContext.open({ procs: 1, objects: { folder } });
  await expect(open(`${tmpdir()}/no such folder`)).rejects.toThrow(/^cannot keep large values in .*ENOENT.*create/);
  await expect(open(process.execPath)).rejects.toThrow("it is no folder; create the folder on each host");
});
