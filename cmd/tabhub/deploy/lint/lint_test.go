// Package lint checks the files of a deployment by the code of the programs that read them. It
// is a module of its own, so that who builds tabhub needs none of that.
package lint

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/compose-spec/compose-go/v2/cli"
	"github.com/compose-spec/compose-go/v2/types"
	"github.com/nats-io/nats-server/v2/server"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/yaml"
)

// manifests is what the files for Kubernetes define.
type manifests struct {
	configs  map[string]corev1.ConfigMap
	services map[string]corev1.Service
	sets     map[string]appsv1.StatefulSet
	budgets  []policyv1.PodDisruptionBudget
	policies []networkingv1.NetworkPolicy
	ingress  networkingv1.Ingress
}

// readManifests reads them as the API server does: a field that it does not know is an error.
func readManifests(t *testing.T) *manifests {
	t.Helper()
	var k struct {
		metav1.TypeMeta `json:",inline"`
		Resources       []string `json:"resources"`
	}
	read(t, "../kubernetes/kustomization.yaml", &k)
	m := &manifests{configs: map[string]corev1.ConfigMap{}, services: map[string]corev1.Service{}, sets: map[string]appsv1.StatefulSet{}}
	for _, file := range k.Resources {
		b, err := os.ReadFile(filepath.Join("../kubernetes", file))
		if err != nil {
			t.Fatal(err)
		}
		for doc := range bytes.SplitSeq(b, []byte("\n---\n")) {
			var of metav1.TypeMeta
			if err := yaml.Unmarshal(doc, &of); err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			switch of.APIVersion + " " + of.Kind {
			case "v1 ConfigMap":
				c := strict[corev1.ConfigMap](t, file, doc)
				m.configs[c.Name] = c
			case "v1 Service":
				s := strict[corev1.Service](t, file, doc)
				m.services[s.Name] = s
			case "apps/v1 StatefulSet":
				s := strict[appsv1.StatefulSet](t, file, doc)
				m.sets[s.Name] = s
			case "policy/v1 PodDisruptionBudget":
				m.budgets = append(m.budgets, strict[policyv1.PodDisruptionBudget](t, file, doc))
			case "networking.k8s.io/v1 NetworkPolicy":
				m.policies = append(m.policies, strict[networkingv1.NetworkPolicy](t, file, doc))
			case "networking.k8s.io/v1 Ingress":
				m.ingress = strict[networkingv1.Ingress](t, file, doc)
			default:
				t.Errorf("%s: there is no %s %s", file, of.APIVersion, of.Kind)
			}
		}
	}
	return m
}

func strict[T any](t *testing.T, file string, doc []byte) (v T) {
	t.Helper()
	if err := yaml.UnmarshalStrict(doc, &v); err != nil {
		t.Errorf("%s: %v", file, err)
	}
	return v
}

func read(t *testing.T, file string, v any) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err == nil {
		err = yaml.UnmarshalStrict(b, v)
	}
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
}

// What a manifest names is there: else the pod never starts, or nobody reaches it.
func TestKubernetes(t *testing.T) {
	m := readManifests(t)
	if len(m.sets) != 2 || len(m.budgets) != 2 || len(m.policies) != 2 {
		t.Fatalf("there are %d sets, %d budgets and %d policies", len(m.sets), len(m.budgets), len(m.policies))
	}
	for name, set := range m.sets {
		pod := set.Spec.Template
		of := labels.Set(pod.Labels)
		selected := func(what string, s *metav1.LabelSelector) bool {
			selector, err := metav1.LabelSelectorAsSelector(s)
			if err != nil {
				t.Errorf("%s of %s: %v", what, name, err)
			}
			return selector.Matches(of)
		}
		if !selected("selector", set.Spec.Selector) {
			t.Errorf("%s does not select its own pods", name)
		}
		service, ok := m.services[set.Spec.ServiceName]
		if !ok || service.Spec.ClusterIP != "None" || !service.Spec.PublishNotReadyAddresses || !labels.SelectorFromSet(service.Spec.Selector).Matches(of) {
			t.Errorf("%s has no headless service by which its pods find each other before they are ready", name)
		}
		budgets, policies := 0, 0
		for _, b := range m.budgets {
			if selected("budget", b.Spec.Selector) {
				budgets++
			}
		}
		for _, p := range m.policies {
			if selected("policy", &p.Spec.PodSelector) {
				policies++
			}
		}
		if budgets != 1 || policies != 1 {
			t.Errorf("%s has %d budgets and %d policies", name, budgets, policies)
		}
		volumes := map[string]bool{}
		for _, v := range pod.Spec.Volumes {
			volumes[v.Name] = true
			if c := v.ConfigMap; c != nil && m.configs[c.Name].Data == nil {
				t.Errorf("%s: there is no configuration %s", name, c.Name)
			}
		}
		for _, v := range set.Spec.VolumeClaimTemplates {
			volumes[v.Name] = true
		}
		for _, c := range pod.Spec.Containers {
			ports := map[string]bool{}
			for _, p := range c.Ports {
				ports[p.Name] = true
			}
			for _, p := range []*corev1.Probe{c.StartupProbe, c.ReadinessProbe, c.LivenessProbe} {
				if p == nil || p.HTTPGet == nil || !ports[p.HTTPGet.Port.StrVal] {
					t.Errorf("%s: a probe is missing, or of a port that is not there", name)
				}
			}
			for _, v := range c.VolumeMounts {
				if !volumes[v.Name] {
					t.Errorf("%s: there is no volume %s", name, v.Name)
				}
			}
		}
	}
	for _, rule := range m.ingress.Spec.Rules {
		for _, path := range rule.HTTP.Paths {
			if _, ok := m.services[path.Backend.Service.Name]; !ok {
				t.Errorf("the ingress leads to %s, which is not there", path.Backend.Service.Name)
			}
		}
	}
}

// What three servers have acknowledged may be lost only with the disks of two.
func TestNATS(t *testing.T) {
	t.Setenv("NATS_PASSWORD", "secret")
	t.Setenv("POD_NAME", "nats-1")
	t.Setenv("SERVER_NAME", "nats-1")
	inPod := filepath.Join(t.TempDir(), "nats.conf")
	if err := os.WriteFile(inPod, []byte(readManifests(t).configs["nats"].Data["nats.conf"]), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, file := range map[string]string{"kubernetes": inPod, "compose": "../compose/nats.conf"} {
		o, err := server.ProcessConfigFile(file)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if !o.JetStream || !o.SyncAlways || o.StoreDir != "/data" || o.ServerName != "nats-1" {
			t.Errorf("%s: JetStream %v, sync always %v, in %s, as %s", name, o.JetStream, o.SyncAlways, o.StoreDir, o.ServerName)
		}
		if o.Username == "" || o.Password != "secret" || o.Cluster.Username == "" || o.Cluster.Password != "secret" {
			t.Errorf("%s: it lets in who has no password", name)
		}
		if len(o.Routes) != 3 {
			t.Errorf("%s: %d routes; with another number than there are servers, the first election may go wrong", name, len(o.Routes))
		}
	}
}

func TestCompose(t *testing.T) {
	load := func(env []string) (*types.Project, error) {
		o, err := cli.NewProjectOptions([]string{"../compose/compose.yaml"}, cli.WithEnv(env), cli.WithResolvedPaths(true))
		if err != nil {
			return nil, err
		}
		return o.LoadProject(t.Context())
	}
	if _, err := load(nil); err == nil || !strings.Contains(err.Error(), "put it into .env") {
		t.Errorf("without a password: %v", err)
	}
	p, err := load([]string{"NATS_PASSWORD=n"})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range p.Configs {
		if _, err := os.Stat(c.File); err != nil {
			t.Error(err)
		}
	}
	for name, secret := range p.Secrets { // kept out of git and of images
		if dir, err := filepath.Abs("../compose/secrets"); err != nil || filepath.Dir(secret.File) != dir {
			t.Errorf("the secret %s is in %s (%v)", name, secret.File, err)
		}
	}
	env, err := os.ReadFile("../compose/example.env")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(env), "\nNATS_PASSWORD=\n") {
		t.Error("example.env has no NATS_PASSWORD")
	}
	for _, s := range p.Services {
		for _, ref := range s.Secrets {
			if s.ReadOnly && p.Secrets[ref.Source].File == "" {
				t.Errorf("%s is read-only: Docker Compose refuses to start it with the secret %s, which is no file", s.Name, ref.Source)
			}
			if ref.UID != "" || ref.GID != "" || ref.Mode != nil {
				t.Errorf("%s: the secret %s has an owner or a mode, which Docker Compose ignores for a file", s.Name, ref.Source)
			}
		}
		for _, ref := range s.Configs {
			if s.ReadOnly && p.Configs[ref.Source].File == "" {
				t.Errorf("%s is read-only: Docker Compose refuses to start it with the configuration %s, which is no file", s.Name, ref.Source)
			}
		}
		if !s.ReadOnly || len(s.CapDrop) != 1 || s.CapDrop[0] != "ALL" {
			t.Errorf("%s may more than it needs", s.Name)
		}
		if s.Build != nil {
			if _, err := os.Stat(filepath.Join(s.Build.Context, s.Build.Dockerfile)); err != nil {
				t.Error(err)
			}
		}
	}
}

func TestBalancer(t *testing.T) {
	program, err := exec.LookPath("haproxy")
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal(err)
		}
		t.Skip("haproxy is not installed")
	}
	if out, err := exec.Command(program, "-c", "-f", "../compose/haproxy.cfg").CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
