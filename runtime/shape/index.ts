/** Extents, points, regions and value meshes. The functions are pure. */

export { checkOptionNames } from "./check-options.js";
export { checkKnownLabels, checkRegion } from "./check-region.js";
export {
  type Coordinates,
  checkDimension,
  checkExtent,
  type Extent,
  extentSize,
  formatExtent,
  joinExtents,
  sameExtent,
} from "./extent.js";
export { Point, points } from "./point.js";
export { Range, range } from "./range.js";
export { RankNumbers, resizedExtent } from "./rank-numbers.js";
export {
  baseRank,
  baseRanks,
  detachedRegion,
  isDense,
  type Region,
  rankOfBaseRank,
  regionExtent,
  regionSize,
  sameRegion,
  wholeRegion,
} from "./region.js";
export { type Apply, meshOfRegion, meshRegion, RegionMesh, type RegionMeshKind } from "./region-mesh.js";
export { formatRegionTable, formatTableCell } from "./region-table.js";
export { flattenRegion, renameRegion, splitRegion } from "./reshape.js";
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
} from "./reshape-types.js";
export type { ValueRun } from "./run-length.js";
export { rankAt, singleRankRegion, sliceRegion } from "./slice.js";
export { ValueMesh } from "./value-mesh.js";
