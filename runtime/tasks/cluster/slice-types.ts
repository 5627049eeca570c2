/**
 * The types of TPU slices, from the public documentation of Cloud TPU: how many virtual machines a slice has, and how many
 * chips each of them. Programs can add types of their own, also of other accelerators.
 */

/** The size of one type of slices. */
export interface SliceType {
  /** The number of virtual machines of a slice. */
  readonly vms: number;
  /** The number of chips of each virtual machine. */
  readonly chipsPerVm: number;
}

/** The rule by which the slices of one generation are named: `v4-32` has 32 cores. */
interface Generation {
  readonly name: string;
  /** The number of chips for each unit of the number in the name: newer names count chips, older ones cores. */
  readonly chipsPerUnit: number;
  readonly sizes: readonly number[];
}

/** The number of chips of each machine of a slice with several of them. */
const chipsPerVm = 4;

/** Machines with one, two or eight chips are slices of their own. */
const largestMachine = 8;

const generations: readonly Generation[] = [
  { name: "v2", chipsPerUnit: 0.5, sizes: [8, 32, 128, 256, 512] },
  { name: "v3", chipsPerUnit: 0.5, sizes: [8, 32, 64, 128, 256, 512, 1024, 2048] },
  { name: "v4", chipsPerUnit: 0.5, sizes: [8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096] },
  { name: "v5litepod", chipsPerUnit: 1, sizes: [1, 4, 8, 16, 32, 64, 128, 256] },
  { name: "v5p", chipsPerUnit: 0.5, sizes: [8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 6144, 12288] },
  { name: "v6e", chipsPerUnit: 1, sizes: [1, 4, 8, 16, 32, 64, 128, 256] },
];

/** The types of slices by their names, such as `v4-32`. */
export const sliceTypes: Readonly<Record<string, SliceType>> = Object.fromEntries(
  generations.flatMap(({ name, chipsPerUnit, sizes }) =>
    sizes.map((size) => [`${name}-${size}`, sliceOf(size * chipsPerUnit, chipsPerUnit === 1)]),
  ),
);

/** @param isLite whether the generation has machines with up to eight chips */
function sliceOf(chips: number, isLite: boolean): SliceType {
  const single = isLite ? largestMachine : chipsPerVm;
  return chips <= single ? { vms: 1, chipsPerVm: chips } : { vms: chips / chipsPerVm, chipsPerVm };
}
