/** Tests of the option `tls` of jobs, which need no other machine. */
import { ProcessJob, SlurmJob, SSHJob } from "viceroy/job";
import { describe, expect, test } from "vitest";

const onSlurm = (options: object) => new SlurmJob({ meshes: { workers: { hosts: 1 } }, ...options });

describe("the option tls", () => {
  test.each([true, false, {}, { lifetime: "5s" }, { lifetime: "365d" }])("can be %j for all jobs", (tls) => {
    const meshes = { workers: { hosts: 1 } };
    expect(() => [
      new SlurmJob({ meshes, tls } as never),
      new ProcessJob({ meshes, tls } as never),
      new SSHJob({ meshes: { workers: { hosts: ["n1"] } }, tls } as never),
    ]).not.toThrow();
  });

  test.each([
    ["yes", 'cannot make a job: expected tls as true, false or { lifetime }, got "yes"'],
    [null, "cannot make a job: expected tls as true, false or { lifetime }, got null"],
    [{ lifetime: "4s" }, "cannot make a job: expected lifetime of tls from 5 s to 365 days, got 4000 ms"],
    [{ lifetime: "366d" }, "cannot make a job: expected lifetime of tls from 5 s to 365 days, got 31622400000 ms"],
    [
      { lifetime: "long" },
      'cannot make a job: expected lifetime of tls as milliseconds or as text such as "90s", "15m", "4h", got "long"',
    ],
  ])("is refused as %j", (tls, message) => {
    expect(() => onSlurm({ tls })).toThrow(new RegExp(`^${message.replaceAll(/[{}]/g, "\\$&")}$`));
  });

  test("has no other members", () => {
    expect(() => onSlurm({ tls: { lifetimes: "1h" } })).toThrow(/^cannot make a job with tls: .*lifetimes/);
  });
});

test("the last port is not used with certificates, which are signed at the next one", () => {
  expect(() => onSlurm({ port: 65_535 })).toThrow(
    new RangeError(
      "cannot make a job: expected port from 1 to 65534, because certificates are signed at the next one, got 65535",
    ),
  );
  expect(() => onSlurm({ port: 65_535, tls: false })).not.toThrow();
});

test("a name of a mesh has at most 64 characters, as in certificates", () => {
  const of = (name: string) => () => new ProcessJob({ meshes: { [name]: { hosts: 1 } } });
  expect(of("m".repeat(64))).not.toThrow();
  expect(of("m".repeat(65))).toThrow("expected names of meshes that consist of up to 64 letters, digits and _");
});
