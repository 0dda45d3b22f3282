// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Lattice QCD for programs in C, and in every language that can call C: gauge fields, quarks and their inverses,
/// correlators.
///
/// The handles, the statuses and halocline_last_error() are those of comm/bindings/c.h. Everything here stands on a
/// lattice (halocline_lattice): a group of processes and the part of the sites that each one holds. Calls on different
/// lattices may run in different threads at once. A group of one process by halocline_self() then needs no MPI; groups
/// of several processes need an MPI that was started with MPI_THREAD_MULTIPLE, and a group of its own for each lattice
/// (halocline_from_fortran_handle). Calls on one lattice take turns: a call that finds another one under way is
/// refused, and so is a call from a progress function. That holds for halocline_solver_count(), _report() and _note()
/// too. The process that is refused so is the only one: the others wait for it. No object may be destroyed while a call
/// uses it.
///
/// Two things are shared between lattices. A process that once gave up waiting for another one remembers it: MPI then
/// ends without waiting, and objects on every lattice are torn down without messages. The settings of
/// halocline_lattice_set_time_limit() and halocline_lattice_set_communication() hold for all groups of one family.
///
/// Every function that takes a lattice, or an object made on one, is collective over the lattice's group unless it
/// says otherwise: all processes call it with the same values. Arrays differ, of course. Each rank checks its
/// arguments before the call begins. A mistake on any rank, another function or object, and a value that differs
/// between ranks, is INVALID_ARGUMENT with one sentence on every rank, and everything is as before. Only a NULL object
/// in the place of the first argument is seen by the calling process alone.
///
/// Copies of arrays, new gauge fields and new propagators get their memory before the call begins. Where a rank has
/// none, every rank returns HALOCLINE_OUT_OF_MEMORY, and everything is as before.
///
/// After HALOCLINE_FAILED, and after HALOCLINE_OUT_OF_MEMORY in the middle of a call (a solver that gets its own
/// fields), the other processes may be anywhere; in that case they wait for this one until a time limit ends it. On
/// several processes the lattice then refuses every further call with HALOCLINE_FAILED and the first sentence; only
/// what is not collective still works. There is one exception: numbers that are not finite in the middle of a call are
/// HALOCLINE_FAILED on every rank alike, and the lattice remains usable. After the other statuses everything remains
/// usable. How long ranks wait for each other is set by halocline_lattice_set_time_limit() during solves, and by
/// halocline_communicator_set_time_limit() otherwise.
///
/// Structs of parameters begin with their size, which `..._init(&parameters, sizeof parameters)` writes beside the
/// default values. A program that was compiled with an older header, whose structs are shorter, therefore runs with a
/// newer library. Names are strings; NULL or "" is the default. An unknown name is refused with the list of known ones.
///
/// An array is a pointer and the number of its real numbers, float or double as `bits` says. A halocline_format tells
/// how the array is arranged. docs/using-qcd.md shows programs.

#include "halocline/comm/bindings/c.h"

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// ---------------------------------------------------------------------------------------------------------------------
// Lattice

typedef struct halocline_lattice halocline_lattice;

/// A lattice of sites x y z t, divided among the processes of a group.
/// @param extents    shape (4,): sites along x, y, z, t; 1 to 65536 each, and 2^40 in all at most
/// @param processes  shape (4,): along each axis; NULL: the grid with the least surface
/// @param ranks      shape (product of processes,): the rank at each place of the grid, x fastest; NULL: in order
/// @return INVALID_ARGUMENT also where the sites cannot be divided so; the sentence names possible grids
int halocline_lattice_create(const halocline_communicator* group, const int64_t* extents, const int* processes,
                             const int* ranks, halocline_lattice** lattice);

/// What this process holds. Not collective. Each of the arrays has shape (4,) and may be NULL.
/// @param extents    of the whole lattice
/// @param local      sites of this process along each axis
/// @param offset     global coordinates of its first site
/// @param processes  along each axis
int halocline_lattice_geometry(const halocline_lattice* lattice, int64_t* extents, int64_t* local, int64_t* offset,
                               int* processes);

/// How long a process waits for another one during a solve [s]; 300 at first. Holds for all lattices on groups of one
/// family: those that were made from one communicator or split off it. @param seconds  positive and finite
int halocline_lattice_set_time_limit(const halocline_lattice* lattice, double seconds);

/// How solvers that are made from now on exchange halos and add. Holds for all lattices on groups of one family: those
/// that were made from one communicator or split off it. Results depend on `sums` alone.
/// @param transport         as for halocline_exchange_create; NULL or "": the usual choice
/// @param buffers           of each direction of a link: 2, or 1 for comparison
/// @param all_threads_post  not 0: every thread posts messages where the transport allows it; 0: one thread
/// @param sums              NULL or "ordered": the same bits in every placement; "mpi", "mpi-split", "auto": see
///                          comm/sums/reduction.hpp
/// @param interfaces        shape (8,): network interface of each face, lower and upper side of x, then of y, z, t, for
///                          transport utofu; may differ between ranks. NULL: the transport spreads the faces
int halocline_lattice_set_communication(const halocline_lattice* lattice, const char* transport, int buffers,
                                        int all_threads_post, const char* sums, const int* interfaces);

/// Whether the lattice is still usable. Not collective.
/// @param reason  "" as long as it is; else the sentence of the failure. Lives as long as the lattice
int halocline_lattice_failure(const halocline_lattice* lattice, const char** reason);

/// Objects on the lattice remain. Not collective, like all `..._destroy` functions.
int halocline_lattice_destroy(halocline_lattice* lattice);

// ---------------------------------------------------------------------------------------------------------------------
// Arrays of the host

/// How an array is arranged. halocline_format_init() sets the canonical order of Halocline, in double. NULL in the
/// place of a format is the same.
typedef struct halocline_format {
  size_t struct_size;
  const char* order;    ///< a name of halocline_orders(): "canonical" (default), "even-odd", "qdp++", "quda", "pyquda",
                        ///< "milc", "qws", "openqcd" (1.x), ...; docs/conventions.md has their formulas
  const char* basis;    ///< of spin: a name of halocline_bases(). Default "": that of the order
  const char* indices;  ///< of a spinor: "spin-colour" or "colour-spin", the last one fastest. Default "": the order's
  int bits;             ///< of each real number: 64 (default) or 32
  int staggered_phases;     ///< of links: 1 where they contain MILC's phases, 0 where not, -1 (default) as the order
  double link_boundary[4];  ///< the host's links across the upper end of x y z t carry this factor, for example -1 in
                            ///< time for antiperiodic quarks. Halocline's links never do. 0 (default): as the order
  double link_scale[4];     ///< factor of all links of a direction, such as 1 / anisotropy. 0 (default): as the order
} halocline_format;

/// @param struct_size  sizeof(halocline_format). Not collective, like all `..._init` functions
int halocline_format_init(halocline_format* format, size_t struct_size);

/// The names of orders and bases, separated by ", ". Not collective.
const char* halocline_orders(void);
const char* halocline_bases(void);

// ---------------------------------------------------------------------------------------------------------------------
// Gauge field

typedef struct halocline_gauge halocline_gauge;

/// A gauge field without links; it must get some before it is used.
int halocline_gauge_create(const halocline_lattice* lattice, halocline_gauge** gauge);

/// Links to start from. @param kind  "unit"; "random", uniform over SU(3); or "weak", exp(i epsilon h)
/// @param epsilon  of "weak" alone; @param seed  the same links on any number of processes
int halocline_gauge_start(halocline_gauge* gauge, const char* kind, double epsilon, uint64_t seed);

/// Reads a file of any known format, and verifies what it claims.
/// @return BAD_FILE for a file that is missing, damaged or of other extents
int halocline_gauge_load(halocline_gauge* gauge, const char* path);

/// Writes a file, whole or not at all. @param file_format  "ildg", "nersc", "openqcd", "milc" or "npy"; NULL: "ildg"
int halocline_gauge_save(const halocline_gauge* gauge, const char* path, const char* file_format);

/// The extents in the header of a file. Not collective; no lattice is needed. @param extents  shape (4,)
int halocline_gauge_file_extents(const char* path, int64_t* extents);

/// Takes the links of this process from an array of the host. The array is read here and not kept.
/// @param format  NULL: canonical, [t][z][y][x][mu][3][3][re, im] in double
/// @param count   real numbers in the array: 72 a local site
int halocline_gauge_set(halocline_gauge* gauge, const halocline_format* format, const void* links, size_t count);
/// The same from four arrays, one for each direction x y z t, as QUDA has them.
/// @param links  shape (4,): pointers; @param count  real numbers in each: 18 a local site
int halocline_gauge_set_directions(halocline_gauge* gauge, const halocline_format* format, const void* const* links,
                                   size_t count);
/// Writes the links of this process into an array of the host.
int halocline_gauge_get(const halocline_gauge* gauge, const halocline_format* format, void* links, size_t count);

/// Mean of Re tr U_plaquette / 3; 1 for unit links, the same on every rank.
int halocline_gauge_plaquette(const halocline_gauge* gauge, double* plaquette);
int halocline_gauge_destroy(halocline_gauge* gauge);

// ---------------------------------------------------------------------------------------------------------------------
// Quarks

/// An action of quarks, in the conventions of docs/conventions.md and qcd/field/action.hpp. A number that the kind
/// does not have must keep its default.
///
/// | kind                          | numbers, besides mass and boundary      |
/// |-------------------------------|-----------------------------------------|
/// | "wilson"                      | xi0, nu                                 |
/// | "wilson-clover"               | xi0, nu, csw, csw_t                     |
/// | "twisted-clover"              | xi0, nu, csw, csw_t, mu                 |
/// | "twisted-doublet"             | xi0, nu, csw, csw_t, mu, epsilon        |
/// | "domain-wall"                 | m5, ls                                  |
/// | "mobius"                      | m5, ls; b and c, or b_list and c_list   |
/// | "one-link", "asqtad", "hisq"  | u0 of asqtad; naik_epsilon of hisq      |
typedef struct halocline_action {
  size_t struct_size;
  const char* kind;       ///< default "wilson-clover"
  double mass;            ///< bare mass; halocline_mass_from_kappa() has it from kappa. Default 0
  double boundary[4][2];  ///< phase (re, im) of psi across each edge; default 1, 1, 1, -1
  double csw;             ///< clover coefficient; default 0
  double csw_t;           ///< of planes with time; NaN, the default, for csw
  double xi0, nu;         ///< bare anisotropies of links and of quarks; default 1
  double mu;              ///< twisted mass; default 0
  double epsilon;         ///< splitting of the masses of a doublet; default 0
  double m5;              ///< height of the domain wall; default 1.8
  int ls;                 ///< extent of the fifth dimension; default 8
  double b, c;            ///< of Moebius; default 1 and 0, which is Shamir's action
  const double* b_list;   ///< shape (ls, 2): b_s (re, im) in the place of b; default NULL
  const double* c_list;   ///< shape (ls, 2)
  double u0;              ///< tadpole factor; default 1
  double naik_epsilon;    ///< default 0
} halocline_action;

int halocline_action_init(halocline_action* action, size_t struct_size);
/// m0 = 1 / (2 kappa) - 4. Not collective.
int halocline_mass_from_kappa(double kappa, double* mass);

/// How to solve; docs/solvers.md explains methods and numbers.
typedef struct halocline_solver_parameters {
  size_t struct_size;
  const char* kind;       ///< "auto" (default), "bicgstab", "cg", "schwarz", "multigrid", "gcr", "block-bicgstab", ...
  const char* precision;  ///< "mixed" (default) or "double"
  double tolerance;       ///< on |b - D x| / |b|; default 1e-10
  int max_iterations;     ///< default 10000
  int even_odd;           ///< not 0, the default: solve the Schur complement instead of D
  int restart_length;     ///< of gcr and fgmres; default 20
  int rhs_batch;          ///< most columns solved together; 0, the default: as memory allows
  int right_hand_sides;   ///< that will come in all, for the choice of "auto"; 0, the default: those of the first call
  const char* transport;  ///< of the halo exchange (comm/bindings/c.h); default ""
  const char* device;     ///< "cpu" (default), "cuda", "cuda:N"
  const char* inner_precision;  ///< on a device: "float", "fixed16", "fixed8"; default "auto"
  const char* outer;            ///< around Schwarz: "bicgstab" (default), "defect_correction", "gcr"
  int nsap;                     ///< Schwarz: highest power, nsap + 1 sweeps; default 4
  int domain_steps;             ///< Schwarz: steps inside a domain; default 2
  const char* domain_inverse;   ///< Schwarz: "jacobi" (default), "even-odd", "minres"
  int64_t domains[4];           ///< Schwarz: domains of a process along each axis; default 2, 1, 1, 1; zeros: automatic
  const char* domain_storage;   ///< Schwarz: "float" (default) or "half"
  int multigrid_levels;         ///< 0, the default: two for small lattices, more for larger ones
  int multigrid_vectors;        ///< default 24
} halocline_solver_parameters;

int halocline_solver_parameters_init(halocline_solver_parameters* parameters, size_t struct_size);

typedef struct halocline_solver halocline_solver;

/// The operator of an action on these links, with a solver. The links are read here and not kept.
/// @param parameters  NULL: all defaults
/// Cost: see QuarkSolver in qcd/quark/quark_solver.hpp; about 3.5 KB a site for Wilson-clover quarks without multigrid.
int halocline_solver_create(const halocline_gauge* gauge, const halocline_action* action,
                            const halocline_solver_parameters* parameters, halocline_solver** solver);
/// Takes other links or another action of the same kind, and keeps what it has learnt (multigrid's test vectors).
/// "wilson" and "wilson-clover" are one kind here. A refused solver keeps its old links and action. For a while both
/// are in memory. @param action  NULL: the present one
int halocline_solver_refresh(halocline_solver* solver, const halocline_gauge* gauge, const halocline_action* action);

/// Real numbers in the local array of one source or solution: 24 a site, 6 for staggered quarks, 48 for a doublet. Not
/// collective. @param five_dimensions  of the arrays on which D of domain walls acts; else the same. May be NULL
int halocline_solver_count(const halocline_solver* solver, size_t* count, size_t* five_dimensions);

/// Applies an operator in double. @param name  "D", "D-dagger"; "schur", "schur-dagger": the symmetric even-odd Schur
/// complement, which reads the even sites of `in` and sets the odd ones of `out` to 0 (not for domain walls)
/// @param count  real numbers of each array
int halocline_solver_apply(halocline_solver* solver, const char* name, const halocline_format* format, void* out,
                           const void* in, size_t count);

/// Called from time to time by the thread that solves, with the iterations and the residual of the recursion so far.
/// @return  not 0 on any rank: stop. The solve then ends everywhere with the reason "cancelled"
typedef int (*halocline_progress)(void* data, int iterations, double residual);

/// Solves D x = b for several right-hand sides. Solves that do not converge are OK, and reported: look at the reports.
/// @param format     of all arrays; NULL: canonical
/// @param columns    right-hand sides, at least 1
/// @param solutions  shape (columns,): one array each
/// @param sources    shape (columns,): one array each, other memory than the solutions
/// @param count      real numbers in each array, as halocline_solver_count() says
/// @param progress   NULL for none; @param data  passed to it
int halocline_solver_solve(halocline_solver* solver, const halocline_format* format, int columns,
                           void* const* solutions, const void* const* sources, size_t count,
                           halocline_progress progress, void* data);

/// The result for one right-hand side of the last solve.
typedef struct halocline_report {
  size_t struct_size;
  int converged;       ///< 1 or 0
  int iterations;      ///< of the Krylov method
  double residual;     ///< |b - D x| / |b| of the full operator, recomputed in double
  double seconds;      ///< a solve of several columns is divided equally among them
  int columns;         ///< right-hand sides that were solved together with this one
  int notes;           ///< sentences that halocline_solver_note() has
  const char* reason;  ///< "converged", "iteration_limit", "stagnation", "breakdown", "cancelled", ...
  const char* method;  ///< the last method, "even-odd bicgstab, mixed precision"
  const char* device;  ///< "" on the CPU
} halocline_report;

int halocline_report_init(halocline_report* report, size_t struct_size);
/// Not collective. The strings live until the next solve. @param column  from 0; of a propagator: 3 spin + colour
int halocline_solver_report(const halocline_solver* solver, int column, halocline_report* report);
/// A sentence about the solve of a column: what "auto" chose and why, or what failed. Not collective.
int halocline_solver_note(const halocline_solver* solver, int column, int index, const char** sentence);
int halocline_solver_destroy(halocline_solver* solver);

// ---------------------------------------------------------------------------------------------------------------------
// Propagators and correlators

typedef struct halocline_propagator halocline_propagator;

/// The columns of a propagator of zeros, for solutions of the host. @param source  shape (4,): position x y z t of the
/// source; @param staggered  0: twelve columns, 3 spin + colour; not 0: three, the colours
int halocline_propagator_create(const halocline_lattice* lattice, const int64_t* source, int staggered,
                                halocline_propagator** propagator);
/// Solves for all columns from a point source. The reports are those of the solver.
/// @return INVALID_ARGUMENT also for doublets, which have no propagator here
int halocline_propagator_solve(halocline_solver* solver, const int64_t* source, halocline_progress progress, void* data,
                               halocline_propagator** propagator);
/// What halocline_propagator_set() expects. Not collective. @param columns  12, or 3 for staggered quarks; may be NULL
/// @param count  real numbers in each: 24, or 6, a local site; may be NULL
int halocline_propagator_count(const halocline_propagator* propagator, int* columns, size_t* count);
/// Takes all columns from arrays of the host. In another basis than DeGrand-Rossi both spins are rotated: the host's
/// column is the solution for a source spin of its own basis.
/// @param columns  shape (12,), 3 spin + colour, or shape (3,) for staggered quarks: arrays
/// @param count    real numbers in each: 24, or 6, a local site
int halocline_propagator_set(halocline_propagator* propagator, const halocline_format* format,
                             const void* const* columns, size_t count);
int halocline_propagator_get(const halocline_propagator* propagator, const halocline_format* format,
                             void* const* columns, size_t count);

/// A meson correlator, C(t) for each time t after the source, the same on every rank.
/// @param channel   "pion", "rho", "a0", ... (qcd/measure/channels.hpp; for staggered quarks qcd/measure/staggered.hpp)
/// @param momentum  shape (3,): integers; NULL: zero
/// @param values    shape (T, 2): re, im; @param count  of real numbers, 2 T
int halocline_meson(const halocline_propagator* quark, const halocline_propagator* antiquark, const char* channel,
                    const int* momentum, double* values, size_t count);
/// A nucleon correlator, the proton for (up, down). Not for staggered quarks.
/// @param boundary_t  shape (2,): phase (re, im) of the quarks in time; @param parity  1 or -1
int halocline_nucleon(const halocline_propagator* up, const halocline_propagator* down, const double* boundary_t,
                      int parity, const int* momentum, double* values, size_t count);
int halocline_propagator_destroy(halocline_propagator* propagator);

#ifdef __cplusplus
}
#endif
