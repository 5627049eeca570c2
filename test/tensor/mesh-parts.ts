/** Copies the parts of a tensor on all procs of a mesh into this process. */
import { inspect, type Tensor } from "viceroy/tensor";

/** Of a mesh of 2 hosts with 2 gpus each: in rank order. */
export const meshPoints = [
  { hosts: 0, gpus: 0 },
  { hosts: 0, gpus: 1 },
  { hosts: 1, gpus: 0 },
  { hosts: 1, gpus: 1 },
];

export function inspectAll(tensor: Tensor): Promise<Tensor[]> {
  return Promise.all(meshPoints.map((place) => inspect(tensor, place)));
}

/** The ranks that exchange with each, in the order of their places. */
export const groups = {
  gpus: [
    [0, 1],
    [0, 1],
    [2, 3],
    [2, 3],
  ],
  hosts: [
    [0, 2],
    [1, 3],
    [0, 2],
    [1, 3],
  ],
  "hosts,gpus": Array.from({ length: 4 }, () => [0, 1, 2, 3]),
  "gpus,hosts": Array.from({ length: 4 }, () => [0, 2, 1, 3]),
} as const;

/** As an operation is told them. */
export function along(name: keyof typeof groups): string | string[] {
  return name.includes(",") ? name.split(",") : name;
}
