/** Shapes: extents, points, regions, and values with a shape. Pure; the rest of the runtime imports from here. */
export { checkRegion } from "./check.js";
export {
  type Coordinates,
  checkDimension,
  checkExtent,
  describeValue,
  type Extent,
  extentSize,
  formatExtent,
  joinExtents,
  sameExtent,
} from "./extent.js";
export { checkOptionNames } from "./options.js";
export { Point, points } from "./point.js";
export { Range, range } from "./range.js";
export {
  baseRank,
  baseRanks,
  isDense,
  type Region,
  rankOfBaseRank,
  regionExtent,
  regionSize,
  sameRegion,
  wholeRegion,
} from "./region.js";
export { flattenRegion, renameRegion, splitRegion } from "./reshape.js";
export type { ValueRun } from "./runs.js";
export { rankAt, singleRankRegion, sliceRegion } from "./slice.js";
export { formatRegionTable, formatTableCell } from "./table.js";
export type {
  OnlyKeys,
  PointFor,
  Renamed,
  RenameSpec,
  Sliced,
  SliceSpec,
  Split,
  SplitNames,
  SplitSizes,
  SplitSpec,
} from "./types.js";
export { ValueMesh } from "./value-mesh.js";
