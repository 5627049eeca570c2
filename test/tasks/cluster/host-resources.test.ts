/** Tests of the resources that the hosts of a job get from a runtime environment. */
import { describe, expect, test } from "vitest";
import { boundedMeshes } from "../../../runtime/tasks/cluster/host-resources.js";
import { RuntimeEnv, type RuntimeEnvOptions } from "../../../runtime/tasks/environment/index.js";

const workers = (mesh: object, environment: RuntimeEnvOptions) =>
  boundedMeshes({ workers: mesh }, new RuntimeEnv(environment))["workers"];

describe("the hosts of a job", () => {
  test("have at least the minimum of each resource, and at most the maximum", () => {
    const environment = { minimumResources: { cpus: 2 }, maximumResources: { cpus: 4, memory: 2 ** 30 } };
    expect(workers({ hosts: 3 }, environment)).toEqual({ hosts: 3, cpus: 2 });
    expect(workers({ hosts: 3, cpus: 1 }, environment)).toEqual({ hosts: 3, cpus: 2 });
    expect(workers({ hosts: 3, cpus: 3 }, environment)).toEqual({ hosts: 3, cpus: 3 });
    expect(workers({ hosts: 3, cpus: 8, memory: "2GiB" }, environment)).toEqual({ hosts: 3, cpus: 4, memory: 2 ** 30 });
    expect(workers({ hosts: 3, memory: "512MiB" }, environment)).toEqual({ hosts: 3, cpus: 2, memory: "512MiB" });
  });

  test("have whole processors and bytes", () => {
    expect(workers({ hosts: 1 }, { minimumResources: { cpus: 0.5, memory: 1000.5 } })).toEqual({
      hosts: 1,
      cpus: 1,
      memory: 1001,
    });
  });

  test("are as they were without bounds", () => {
    const mesh = { hosts: 2, gpus: 0, memory: "1GiB" };
    expect(workers(mesh, { maximumResources: { licences: 1 }, minimumResources: { licences: 0 } })).toEqual(mesh);
  });

  test("cannot have other resources", () => {
    expect(() => workers({ hosts: 1 }, { minimumResources: { licences: 1 } })).toThrow(
      new RangeError(
        "cannot create a job: expected minimumResources of cpus, gpus, memory, which hosts of jobs have, got licences",
      ),
    );
  });
});
