# as root, in containers:
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
# more ranks than cores:
export OMPI_MCA_rmaps_base_oversubscribe=1
# cores that other work uses, too; ranks that wait let it go on:
export OMPI_MCA_mpi_yield_when_idle=1
# two runs at once; each would bind itself to the first cores:
export OMPI_MCA_hwloc_base_binding_policy=none
# containers in which messages say "Read -1, expected ...":
export OMPI_MCA_btl_vader_single_copy_mechanism=none
