// Names of wide.c: whatever the folder defines and another file may see. See there.
#ifndef CM_SIM_COLLIDE_WIDE_NAMES_H
#define CM_SIM_COLLIDE_WIDE_NAMES_H

#define CM_LANES                     8
#define cm_axis_point_cylinder       cm_axis_point_cylinder_8
#define cm_axis_search               cm_axis_search_8
#define cm_bounds_tree_blocks        cm_bounds_tree_blocks_8
#define cm_bounds_tree_build         cm_bounds_tree_build_8
#define cm_bounds_tree_build_loose   cm_bounds_tree_build_loose_8
#define cm_bounds_tree_meets         cm_bounds_tree_meets_8
#define cm_bounds_tree_pairs_between cm_bounds_tree_pairs_between_8
#define cm_bounds_tree_pairs_within  cm_bounds_tree_pairs_within_8
#define cm_bounds_tree_query         cm_bounds_tree_query_8
#define cm_bounds_tree_put           cm_bounds_tree_put_8
#define cm_bounds_tree_size          cm_bounds_tree_size_8
#define cm_bounds_tree_take          cm_bounds_tree_take_8
#define cm_broadphase_scratch_size   cm_broadphase_scratch_size_8
#define cm_clip                      cm_clip_8
#define cm_clip_reduce               cm_clip_reduce_8
#define cm_collide_box_box           cm_collide_box_box_8
#define cm_collide_boxes             cm_collide_boxes_8
#define cm_collide_capsule_box       cm_collide_capsule_box_8
#define cm_collide_convex            cm_collide_convex_8
#define cm_collide_convex_plane      cm_collide_convex_plane_8
#define cm_collide_cores             cm_collide_cores_8
#define cm_collide_at                cm_collide_at_8
#define cm_collide_plane             cm_collide_plane_8
#define cm_collide_polys             cm_collide_polys_8
#define cm_collide_round             cm_collide_round_8
#define cm_collide_shapes            cm_collide_shapes_8
#define cm_collide_sphere_box        cm_collide_sphere_box_8
#define cm_collide_turning           cm_collide_turning_8
#define cm_collide_woken             cm_collide_woken_8
#define cm_core_make                 cm_core_make_8
#define cm_core_support              cm_core_support_8
#define cm_find_pairs                cm_find_pairs_8
#define cm_gjk_distance              cm_gjk_distance_8
#define cm_hulls_apart               cm_hulls_apart_8
#define cm_morton_keys               cm_morton_keys_8
#define cm_update_shape_transforms   cm_update_shape_transforms_8
#define cm_update_shape_transform    cm_update_shape_transform_8
#define cm_poly_face                 cm_poly_face_8
#define cm_poly_make                 cm_poly_make_8
#define cm_poly_support              cm_poly_support_8
#define cm_recycle                   cm_recycle_8
#define cm_recycle_keep              cm_recycle_keep_8
#define cm_recycle_take              cm_recycle_take_8
#define cm_shape_bounds              cm_shape_bounds_8
#define cm_shape_transform_of        cm_shape_transform_of_8
#define cm_stage_collide             cm_stage_collide_8
#define cm_stage_pairs               cm_stage_pairs_8

#endif
